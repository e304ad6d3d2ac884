/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that we make trap: rdtsc and rdtscp (PR_SET_TSC). */
#include "supervise/arch.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

int arch_trap_setup(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

int arch_trap_emulate(pid_t tid, struct regs *regs, uint64_t tsc)
{
	struct user_regs_struct *u = &regs->user;
	unsigned long word;
	unsigned length;

	errno = 0;
	word = (unsigned long)ptrace(PTRACE_PEEKTEXT, tid, u->rip, 0);
	if (errno)
		return 0;
	if ((word & 0xffff) == 0x310f) /* rdtsc */
		length = 2;
	else if ((word & 0xffffff) == 0xf9010f) { /* rdtscp */
		length = 3;
		u->rcx = 0;
	} else
		return 0;
	u->rax = (uint32_t)tsc;
	u->rdx = tsc >> 32;
	u->rip += length;
	return 1;
}
