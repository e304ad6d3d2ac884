/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A static program, whose functions are found in another place.
 *: varies
 *: long
 */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
	uint64_t value;

	__asm__ volatile("1: rdrand %0\n\tjnc 1b" : "=r"(value) : : "cc");
	printf("%016lx\n", (unsigned long)value);
	return 0;
}
