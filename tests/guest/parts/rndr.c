/* SPDX-License-Identifier: Apache-2.0 */
/* Two numbers from each of arm64's random number registers, where the CPU has them. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

#define DRAW(name, encoded) \
	static unsigned name(uint64_t *number) \
	{ \
		unsigned drawn; \
\
		__asm__ volatile("mrs %0, " encoded "\n cset %w1, ne" \
				 : "=r"(*number), "=r"(drawn) \
				 : \
				 : "cc"); \
		return drawn; \
	}
DRAW(rndr, "s3_3_c2_c4_0")
DRAW(rndrrs, "s3_3_c2_c4_1")

int main(void)
{
	const unsigned long has_rng = 1 << 16;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	if (!(getauxval(AT_HWCAP2) & has_rng)) {
		puts("none");
		return 1;
	}
	if (!rndr(&a) || !rndr(&b) || !rndrrs(&c) || !rndrrs(&d))
		return 2;
	printf("%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", a, b, c, d);
	return a == b || c == d;
}
