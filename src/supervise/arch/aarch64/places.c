/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic loader of arm64 reads neither a counter nor the CPU's features by a trapped
 * instruction: nothing is put in place. See arch.h. */
#include "supervise/arch.h"

size_t arch_places_find(const unsigned char *code, size_t len, size_t from)
{
	(void)code;
	(void)from;
	return len;
}

void arch_places_judge(const struct arch_function *f, struct arch_places *p)
{
	(void)f;
	(void)p;
}

bool arch_places_leads(const unsigned char *code, size_t at)
{
	(void)code;
	(void)at;
	return false;
}

size_t arch_place_stub(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_STUB_MAX])
{
	(void)place;
	(void)where;
	(void)out;
	return 0;
}

bool arch_place_jump(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_COVER_MAX])
{
	(void)place;
	(void)where;
	(void)out;
	return false;
}

size_t arch_places_cpuid(unsigned char *out, size_t room)
{
	(void)out;
	(void)room;
	return 0;
}
