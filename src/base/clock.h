/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clocks; nothing outside this file reads them. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC of the host. */
uint64_t clock_host_ns(void);
/* CLOCK_REALTIME of the host, as the kernel stamps files: it may lag by a tick. */
uint64_t clock_host_real_ns(void);

#endif
