/* SPDX-License-Identifier: Apache-2.0 */
/* One timed process of the bench, pinned to one CPU, with its output thrown away. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdint.h>

#define PROCESS_FAILED UINT64_MAX

/*
 * Runs argv in directory dir on the bench's CPU and returns its wall time in nanoseconds as the
 * host's clock has it, or PROCESS_FAILED when it did not end with status 0 (said on standard
 * error). With ret_peak_kib, also the highest memory seen of the supervisor below it (0 when none
 * was seen).
 */
uint64_t process_time(const char *const argv[], const char *dir, long *ret_peak_kib);

#endif
