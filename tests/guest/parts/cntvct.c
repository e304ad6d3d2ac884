/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arm64's virtual counter and its frequency, before and after a second's sleep. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t counter(void)
{
	uint64_t value;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
	return value;
}

int main(void)
{
	uint64_t frequency;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	printf("frequency %lu\n", (unsigned long)frequency);
	printf("counter %lu\n", (unsigned long)counter());
	sleep(1);
	printf("a second later %lu\n", (unsigned long)counter());
	return 0;
}
