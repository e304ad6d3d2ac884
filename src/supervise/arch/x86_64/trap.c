/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that we make trap: rdtsc and rdtscp (PR_SET_TSC), and cpuid where the CPU can. */
#include "supervise/arch.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervise/arch/x86_64/cpuid.h"
#include "supervise/report.h"

enum { SET_CPUID = 0x1012 }; /* ARCH_SET_CPUID */

int arch_trap_setup(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

/* ARCH_SET_CPUID(1), which changes nothing, is refused where the CPU or the hypervisor cannot
 * fault. */
static bool cpuid_can_fault(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = syscall(SYS_arch_prctl, SET_CPUID, 1) == 0;
	return answer;
}

size_t arch_exec_calls(struct arch_call ret_calls[ARCH_EXEC_CALLS])
{
	if (!cpuid_can_fault())
		return 0;
	ret_calls[0] = (struct arch_call){.nr = SYS_arch_prctl, .arg = {SET_CPUID, 0}};
	return 1;
}

void arch_report_assumptions(void)
{
	if (!cpuid_can_fault())
		report_assumption(REASON_CPUID_UNMASKED, "this CPU cannot make cpuid fault");
}

static void put_model(struct user_regs_struct *u)
{
	uint32_t out[4];

	cpuid_model((uint32_t)u->rax, (uint32_t)u->rcx, out);
	u->rax = out[0];
	u->rbx = out[1];
	u->rcx = out[2];
	u->rdx = out[3];
}

int arch_trap_emulate(pid_t tid, struct regs *regs, uint64_t tsc)
{
	struct user_regs_struct *u = &regs->user;
	unsigned long word;
	unsigned length;

	errno = 0;
	word = (unsigned long)ptrace(PTRACE_PEEKTEXT, tid, u->rip, 0);
	if (errno) { /* at the end of a mapping */
		errno = 0;
		word = (unsigned long)ptrace(PTRACE_PEEKTEXT, tid, u->rip & ~7ull, 0) >>
		       u->rip % 8 * 8;
	}
	if (errno)
		return 0;
	if ((word & 0xffff) == 0x310f) /* rdtsc */
		length = 2;
	else if ((word & 0xffffff) == 0xf9010f) { /* rdtscp */
		length = 3;
		u->rcx = 0;
	} else if ((word & 0xffff) == 0xa20f) { /* cpuid */
		put_model(u);
		u->rip += 2;
		return 1;
	} else
		return 0;
	u->rax = (uint32_t)tsc;
	u->rdx = tsc >> 32;
	u->rip += length;
	return 1;
}
