/* SPDX-License-Identifier: Apache-2.0 */
/* What the examination of a loop has to know of aarch64; decode.c knows the instructions. See
 * arch.h. */
#include "supervise/arch.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "supervise/arch/aarch64/decode.h"

/* stxr, stlxr and those of pairs; ldxr and its like have bit 22 set. */
static const uint32_t store_exclusive_mask = 0x3fc00000, store_exclusive = 0x08000000;
static const uint32_t svc_mask = 0xffe0001f, svc = 0xd4000001;

int arch_insn_accesses(const struct regs *regs, const unsigned char *code, size_t len,
	struct arch_access ret[ARCH_ACCESSES])
{
	struct a64_regs r = {.sp = regs->user.sp, .pc = regs->user.pc};

	if (len < 4)
		return -1;
	for (unsigned i = 0; i < ARRAY_LEN(r.x); i++)
		r.x[i] = regs->user.regs[i];
	return a64_accesses(bytes_load_u32(code), &r, ret);
}

enum arch_step arch_insn_step(const unsigned char *code, size_t len)
{
	uint32_t word = len >= 4 ? bytes_load_u32(code) : 0;

	if ((word & svc_mask) == svc)
		return ARCH_STEP_CALL;
	/*
	 * A stop after the load clears the monitor, so that under steps such a store never
	 * succeeds. A loop that comes to it only once the load has seen another value is stepped
	 * like any other.
	 */
	return (word & store_exclusive_mask) == store_exclusive ? ARCH_STEP_NEVER : ARCH_STEP_PLAIN;
}

/* It does not tell: a call that was cut short cannot be told from a loop. */
bool arch_is_in_call(const struct regs *regs)
{
	(void)regs;
	return false;
}

void arch_regs_clean(struct regs *regs)
{
	const uint64_t step_flag = 1 << 21;

	regs->user.pstate &= ~step_flag;
}

ssize_t arch_vectors_read(pid_t tid, unsigned char ret_bytes[ARCH_VECTORS_MAX])
{
	struct iovec area = {ret_bytes, ARCH_VECTORS_MAX};

	return ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &area) < 0 ? -1 : (ssize_t)area.iov_len;
}
