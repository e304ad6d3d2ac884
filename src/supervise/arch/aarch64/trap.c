/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that we make trap: reads of the virtual counter and of its frequency, by PR_SET_TSC,
 * which arm64 has since Linux 6.12. Before, the guest reads the host's counter (reason
 * aarch64_cntvct). The emulated counter makes 1 tick a nanosecond, as on x86-64.
 *
 * Unlike x86-64, exec takes the trap back, and makes new keys for pointer authentication: every new
 * program sets the one and turns the others off, so that signed pointers are the plain ones.
 */
#include "supervise/arch.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "supervise/report.h"
#include "wire/sysnr.h"

enum {
	TARGET = 0x1f, /* the register's bits; 31 is the zero register */
	INSN_LENGTH = 4,
	TICKS_PER_S = 1000000000,
};

static const uint32_t read_cntfrq = 0xd53be000;	  /* mrs x0, cntfrq_el0 */
static const uint32_t read_cntvct = 0xd53be040;	  /* mrs x0, cntvct_el0 */
static const uint32_t read_cntvctss = 0xd53be0c0; /* mrs x0, cntvctss_el0 */

/* Nothing that would survive exec. */
int arch_trap_setup(void)
{
	return 0;
}

static bool counter_can_trap(void)
{
	int mode;
	return prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0;
}

size_t arch_exec_calls(struct arch_call ret_calls[ARCH_EXEC_CALLS])
{
	static const uint64_t keys =
		PR_PAC_APIAKEY | PR_PAC_APIBKEY | PR_PAC_APDAKEY | PR_PAC_APDBKEY;
	size_t count = 0;
	if (counter_can_trap())
		ret_calls[count++] =
			(struct arch_call){.nr = NR_prctl, .arg = {PR_SET_TSC, PR_TSC_SIGSEGV}};
	if (getauxval(AT_HWCAP) & HWCAP_PACA)
		ret_calls[count++] = (struct arch_call){
			.nr = NR_prctl, .arg = {PR_PAC_SET_ENABLED_KEYS, keys, 0}};
	return count;
}

void arch_report_assumptions(void)
{
	if (!counter_can_trap())
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
	if (insn != read_cntfrq && insn != read_cntvct && insn != read_cntvctss)
		return 0;
	if ((word & TARGET) != TARGET)
		u->regs[word & TARGET] = insn == read_cntfrq ? TICKS_PER_S : tsc;
	u->pc += INSN_LENGTH;
	return 1;
}
