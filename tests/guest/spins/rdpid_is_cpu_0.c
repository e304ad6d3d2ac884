/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDPID shows CPU 0 wherever the guest runs.
 *: pinned
 *: out cpu 0
 *: long
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	cpu_set_t second;
	uint64_t value;

	CPU_ZERO(&second);
	CPU_SET(1, &second);
	sched_setaffinity(0, sizeof(second), &second);
	__asm__ volatile("rdpid %0" : "=r"(value));
	printf("cpu %lu\n", (unsigned long)value);
	return 0;
}
