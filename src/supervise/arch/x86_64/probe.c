/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that have to trap, for `--probe`: see supervise/probe.h. */
#include "supervise/probe.h"

#include <cpuid.h>

void probe_read_counter(void)
{
	__builtin_ia32_rdtsc();
}

bool probe_identify_cpu(void)
{
	unsigned a, b, c, d;

	__cpuid(0, a, b, c, d);
	return true;
}
