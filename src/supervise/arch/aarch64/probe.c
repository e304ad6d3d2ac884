/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that have to trap, for `--probe`: see supervise/probe.h. */
#include "supervise/probe.h"

#include <stdint.h>

void probe_read_counter(void)
{
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
}

/* The kernel answers reads of the identification registers itself, alike for all CPUs of a host. */
bool probe_identify_cpu(void)
{
	return false;
}
