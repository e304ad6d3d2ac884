/* SPDX-License-Identifier: Apache-2.0 */
/* What the examination of a loop has to know of x86-64: see arch.h. */
#include "supervise/arch.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "supervise/arch/x86_64/decode.h"

_Static_assert((int)ARCH_INSN_MAX == (int)INSN_LENGTH_MAX, "one length");

int arch_insn_accesses(const struct regs *regs, const unsigned char *code, size_t len,
	struct arch_access ret[ARCH_ACCESSES])
{
	struct insn insn;
	int count;

	if (!insn_decode(code, len, &insn))
		return -1;
	count = insn_accesses(&insn, regs, ret);
	/* Its own bytes, too: somebody may write over them. */
	if (count >= 0)
		ret[count++] = (struct arch_access){regs->user.rip, insn.length, false};
	return count;
}

enum arch_step arch_insn_step(const unsigned char *code, size_t len)
{
	struct insn insn;

	if (!insn_decode(code, len, &insn))
		return ARCH_STEP_PLAIN;
	if (insn.map == MAP_0F && insn.opcode == 0x05)
		return ARCH_STEP_CALL;
	if (insn.map != MAP_ONE)
		return ARCH_STEP_PLAIN;
	switch (insn.opcode) {
	case 0x9c: /* pushf shows the trap flag, popf and iret clear it */
	case 0x9d:
	case 0xcf:
	case 0x8e: /* a load of ss holds the trap off */
	case 0xcc: /* int3, int n, int1 */
	case 0xcd:
	case 0xf1:
		return ARCH_STEP_NEVER;
	default:
		return ARCH_STEP_PLAIN;
	}
}

bool arch_is_in_call(const struct regs *regs)
{
	return (long long)regs->user.orig_rax >= 0;
}

void arch_regs_clean(struct regs *regs)
{
	const unsigned long long resume_flag = 1 << 16;

	regs->user.eflags &= ~resume_flag;
	regs->user.orig_rax = (unsigned long long)-1;
}

ssize_t arch_vectors_read(pid_t tid, unsigned char ret_bytes[ARCH_VECTORS_MAX])
{
	enum { XSAVE_HEADER = 512, XSAVE_EXTENDED = 576 };
	struct iovec area = {ret_bytes, ARCH_VECTORS_MAX};

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &area) < 0)
		return -1;
	/* Which components are in their initial state is the CPU's to track as it likes. */
	if (area.iov_len >= XSAVE_EXTENDED)
		memset(ret_bytes + XSAVE_HEADER, 0, XSAVE_EXTENDED - XSAVE_HEADER);
	return (ssize_t)area.iov_len;
}
