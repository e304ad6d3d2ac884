/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that we make trap: reads of the virtual counter, by PR_SET_TSC, which arm64 has
 * since Linux 6.12. Before, the guest reads the host's counter (reason aarch64_cntvct).
 *
 * The emulated counter makes 1 tick a nanosecond, as on x86-64. CNTFRQ_EL0, which says how many
 * ticks a second has, cannot be trapped for the tracer: the guest sees the host's figure there.
 */
#include "supervise/arch.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "supervise/report.h"

enum {
	READ_CNTVCT = 0xd53be040,   /* mrs x0, cntvct_el0 */
	READ_CNTVCTSS = 0xd53be0c0, /* mrs x0, cntvctss_el0 */
	TARGET = 0x1f,		    /* the register's bits; 31 is the zero register */
	INSN_LENGTH = 4,
};

int arch_trap_setup(void)
{
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0 || errno == EINVAL)
		return 0;
	return -1;
}

void arch_report_assumptions(void)
{
	int mode;
	if (prctl(PR_GET_TSC, &mode, 0, 0, 0) < 0)
		report_assumption(
			REASON_AARCH64_CNTVCT, "this kernel cannot trap reads of cntvct_el0");
}

int arch_trap_emulate(pid_t tid, struct regs *regs, uint64_t tsc)
{
	struct user_regs_struct *u = &regs->user;
	errno = 0;
	uint32_t word = (uint32_t)ptrace(PTRACE_PEEKTEXT, tid, u->pc, 0);
	if (errno)
		return 0;
	uint32_t insn = word & ~(uint32_t)TARGET;
	if (insn != READ_CNTVCT && insn != READ_CNTVCTSS)
		return 0;
	if ((word & TARGET) != TARGET)
		u->regs[word & TARGET] = tsc;
	u->pc += INSN_LENGTH;
	return 1;
}
