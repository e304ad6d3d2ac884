/* SPDX-License-Identifier: Apache-2.0 */
/* System call numbers of the architecture that this program is built for. */
#ifndef WIRE_SYSNR_H
#define WIRE_SYSNR_H

#if defined(__x86_64__)
#include "wire/sysnr_x86_64.h"
#elif defined(__aarch64__)
#include "wire/sysnr_aarch64.h"
#else
#error "Sandglass runs on x86-64 and aarch64 only"
#endif

#endif
