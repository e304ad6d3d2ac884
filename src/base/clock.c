/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clocks: see clock.h. */
#include "base/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t clock_host_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_host_real_ns(void)
{
	return read_clock(CLOCK_REALTIME_COARSE);
}
