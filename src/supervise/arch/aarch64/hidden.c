/* SPDX-License-Identifier: Apache-2.0 */
/* RNDR and RNDRRS, arm64's random numbers: found in code, and done in the CPU's place. See arch.h.
 */
#include "supervise/arch.h"

#include <sys/auxv.h>

#include "base/bytes.h"

const char arch_hidden_names[] = "RNDR or RNDRRS";
const unsigned char arch_breakpoint[ARCH_BREAKPOINT_MAX] = {0x00, 0x00, 0x20, 0xd4}; /* brk #0 */
const unsigned arch_breakpoint_len = 4, arch_breakpoint_past = 0;

enum { INSN = 4, REGISTER = 0x1f, NO_REGISTER = 31 };

bool arch_hidden_any(void)
{
	const unsigned long has_rng = 1 << 16; /* HWCAP2_RNG */

	return getauxval(AT_HWCAP2) & has_rng;
}

/* mrs of either register, whichever it is read into. */
static bool is_random(const unsigned char *code)
{
	const uint32_t rndr = 0xd53b2400, rndrrs = 0xd53b2420;
	uint32_t word = bytes_load_u32(code) & ~(uint32_t)REGISTER;

	return word == rndr || word == rndrrs;
}

size_t arch_hidden_find(const unsigned char *code, size_t len, size_t from)
{
	if (!arch_hidden_any())
		return len;
	for (size_t at = (from + INSN - 1) / INSN * INSN; at + INSN <= len; at += INSN)
		if (is_random(code + at))
			return at;
	return len;
}

unsigned arch_insn_length_of(const unsigned char *code, size_t len)
{
	(void)code;
	return len < INSN ? 0 : INSN;
}

bool arch_hidden_is(const unsigned char *code, size_t len)
{
	return len >= INSN && is_random(code);
}

bool arch_hidden_is_random(const unsigned char *code, size_t len)
{
	return arch_hidden_is(code, len);
}

void arch_hidden_emulate(struct regs *regs, const unsigned char *code, size_t len, uint64_t random)
{
	const uint64_t conditions = 0xf0000000; /* all clear: there was a number */
	uint32_t number = bytes_load_u32(code) & REGISTER;

	if (number != NO_REGISTER)
		regs->user.regs[number] = random;
	regs->user.pstate &= ~conditions;
	regs->user.pc += len;
}
