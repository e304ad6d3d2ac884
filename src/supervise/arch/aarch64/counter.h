/* SPDX-License-Identifier: Apache-2.0 */
/* ARCH_COUNTER_PAGE as the assembler wants it: bits 32 and up, the rest is zeros. */
#ifndef SUPERVISE_ARCH_AARCH64_COUNTER_H
#define SUPERVISE_ARCH_AARCH64_COUNTER_H

#define ARCH_COUNTER_PAGE_HIGH 0x20

#endif
