/* SPDX-License-Identifier: Apache-2.0 */
/* RDRAND, RDSEED, RDPID and XBEGIN: found in code, and done in the CPU's place. See arch.h. */
#include "supervise/arch.h"

#include <cpuid.h>
#include <string.h>

#include "base/bytes.h"
#include "supervise/arch/x86_64/decode.h"

const char arch_hidden_names[] = "RDRAND, RDSEED, RDPID or XBEGIN";
const unsigned char arch_breakpoint[ARCH_BREAKPOINT_MAX] = {0xcc}; /* int3 */
const unsigned arch_breakpoint_len = 1, arch_breakpoint_past = 1;

enum kind { NONE, RANDOM = 1, PROCESSOR = 2, TRANSACTION = 4 };

static enum kind kind_of(const struct insn *insn)
{
	bool is_register = insn->modrm >> 6 == 3;
	unsigned reg = insn->modrm >> 3 & 7;

	if (insn->map == MAP_0F && insn->opcode == 0xc7 && is_register && reg >= 6) {
		if (insn->rep)
			return reg == 7 ? PROCESSOR : NONE;
		return insn->repne ? NONE : RANDOM;
	}
	return insn->map == MAP_ONE && insn->opcode == 0xc7 && insn->modrm == 0xf8 ? TRANSACTION
										   : NONE;
}

/* The kinds that this CPU has: another one raises SIGILL, always. */
static unsigned host_kinds(void)
{
	static unsigned kinds;
	static bool asked;
	uint32_t a, b, c, d;

	if (asked)
		return kinds;
	asked = true;
	if (__get_cpuid(1, &a, &b, &c, &d) && c & bit_RDRND)
		kinds |= RANDOM;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		kinds |= b & bit_RDSEED ? RANDOM : 0;
		kinds |= b & bit_RTM ? TRANSACTION : 0;
		kinds |= c & (1 << 22) ? PROCESSOR : 0;
	}
	return kinds;
}

bool arch_hidden_any(void)
{
	return host_kinds() != 0;
}

size_t arch_hidden_find(const unsigned char *code, size_t len, size_t from)
{
	unsigned kinds = host_kinds();

	for (size_t at = from + 1; at + 1 < len; at++) {
		const unsigned char *next = memchr(code + at, 0xc7, len - 1 - at);

		if (!next)
			break;
		at = (size_t)(next - code);
		if (code[at - 1] == 0x0f && code[at + 1] >= 0xf0 && kinds & (RANDOM | PROCESSOR))
			return at - 1;
		if (code[at + 1] == 0xf8 && code[at - 1] != 0x0f && kinds & TRANSACTION)
			return at;
	}
	return len;
}

unsigned arch_insn_length_of(const unsigned char *code, size_t len)
{
	struct insn insn;

	return insn_decode(code, len, &insn) ? insn.length : 0;
}

static enum kind decode_kind(const unsigned char *code, size_t len, struct insn *ret)
{
	return insn_decode(code, len, ret) ? kind_of(ret) : NONE;
}

bool arch_hidden_is(const unsigned char *code, size_t len)
{
	struct insn insn;

	return decode_kind(code, len, &insn) & host_kinds();
}

bool arch_hidden_is_random(const unsigned char *code, size_t len)
{
	struct insn insn;

	return decode_kind(code, len, &insn) == RANDOM;
}

static unsigned long long *general(struct user_regs_struct *u, unsigned number)
{
	unsigned long long *const all[16] = {&u->rax, &u->rcx, &u->rdx, &u->rbx, &u->rsp, &u->rbp,
		&u->rsi, &u->rdi, &u->r8, &u->r9, &u->r10, &u->r11, &u->r12, &u->r13, &u->r14,
		&u->r15};

	return all[number];
}

void arch_hidden_emulate(struct regs *regs, const unsigned char *code, size_t len, uint64_t random)
{
	/* carry, parity, adjust, zero, sign, overflow: RDRAND clears all but carry */
	const unsigned long long carry = 1, all = 0x8d5;
	struct user_regs_struct *u = &regs->user;
	struct insn insn;
	enum kind kind = decode_kind(code, len, &insn);
	unsigned long long *target = general(u, (insn.modrm & 7) | (insn.rex & 1 ? 8 : 0));

	u->rip += len;
	if (kind == TRANSACTION) {
		/* Aborted at once, for no reason that a retry would help. */
		u->rip += (uint64_t)(int64_t)(int32_t)bytes_load_u32(code + len - 4);
		u->rax = 0;
	} else if (kind == PROCESSOR) {
		*target = 0;
	} else {
		if (insn.rex & 8)
			*target = random;
		else if (insn.operand16)
			*target = (*target & ~0xffffull) | (random & 0xffff);
		else
			*target = (uint32_t)random;
		u->eflags = (u->eflags & ~all) | carry;
	}
}
