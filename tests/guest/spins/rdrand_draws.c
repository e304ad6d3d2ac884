/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDRAND and RDSEED in every width give the seeded stream and set the carry flag.
 *: varies
 *: rootless
 */
#include <stdint.h>
#include <stdio.h>

#define DRAW(insn, value, ok) \
	__asm__ volatile(insn " %0\n\tsetc %1" : "=r"(value), "=qm"(ok) : : "cc")

int main(void)
{
	uint64_t wide = 0;
	uint32_t middle = 0;
	uint16_t narrow = 0;
	uint8_t ok;

	for (int i = 0; i < 3; i++) {
		DRAW("rdrand", wide, ok);
		printf("%016lx %u ", (unsigned long)wide, ok);
		DRAW("rdrand", middle, ok);
		printf("%08x %u ", middle, ok);
		DRAW("rdrand", narrow, ok);
		printf("%04x %u\n", narrow, ok);
	}
	DRAW("rdseed", wide, ok);
	printf("%016lx\n", (unsigned long)wide);
	return 0;
}
