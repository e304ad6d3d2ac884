/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time-stamp counter by instructions with prefixes that mean nothing to them.
 *: pinned
 *: out 0 0 0
 */
#include <stdint.h>
#include <stdio.h>

#define READ(value, prefix) \
	__asm__ volatile(prefix ", 0x0f, 0x31\n\tshl $32, %%rdx\n\tor %%rdx, %0" \
			 : "=a"(value) \
			 : \
			 : "rdx", "cc")

int main(void)
{
	uint64_t plain, wide, narrow, segment;

	__asm__ volatile("rdtsc\n\tshl $32, %%rdx\n\tor %%rdx, %0" : "=a"(plain) : : "rdx", "cc");
	READ(wide, ".byte 0x48");
	READ(narrow, ".byte 0x66");
	READ(segment, ".byte 0x2e, 0x4f");
	printf("%lu %lu %lu\n", (unsigned long)(wide - plain), (unsigned long)(narrow - plain),
		(unsigned long)(segment - plain));
	return 0;
}
