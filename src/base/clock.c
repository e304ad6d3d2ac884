/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clocks: see clock.h. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_host_ns(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
