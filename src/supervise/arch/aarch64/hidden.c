/* SPDX-License-Identifier: Apache-2.0 */
/* arm64 has RNDR alone, which no instruction's absence hides: nothing is looked for. See arch.h. */
#include "supervise/arch.h"

bool arch_hidden_any(void)
{
	return false;
}

size_t arch_hidden_find(const unsigned char *code, size_t len, size_t from)
{
	(void)code;
	(void)from;
	return len;
}

unsigned arch_insn_length_of(const unsigned char *code, size_t len)
{
	(void)code;
	return len < 4 ? 0 : 4;
}

bool arch_hidden_is(const unsigned char *code, size_t len)
{
	(void)code;
	(void)len;
	return false;
}

bool arch_hidden_is_random(const unsigned char *code, size_t len)
{
	(void)code;
	(void)len;
	return false;
}

void arch_hidden_emulate(struct regs *regs, const unsigned char *code, size_t len, uint64_t random)
{
	(void)regs;
	(void)code;
	(void)len;
	(void)random;
}
