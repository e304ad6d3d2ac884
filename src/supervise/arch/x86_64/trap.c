/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that we make trap: rdtsc and rdtscp (PR_SET_TSC), and cpuid where the CPU can. */
#include "supervise/arch.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervise/arch/x86_64/cpuid.h"
#include "supervise/arch/x86_64/decode.h"
#include "supervise/report.h"

int arch_trap_setup(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

size_t arch_exec_calls(struct arch_call ret_calls[ARCH_EXEC_CALLS])
{
	if (!cpuid_can_fault())
		return 0;
	ret_calls[0] = (struct arch_call){.nr = SYS_arch_prctl, .arg = {CPUID_SET, 0}};
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

/* The instruction, prefixes and all; it may stand at the end of a mapping. */
static bool read_insn(pid_t tid, uint64_t ip, struct insn *ret)
{
	unsigned char code[24];
	uint64_t word = ip & ~7ull;
	size_t have = 0;

	while (have < sizeof(code)) {
		errno = 0;
		long part = ptrace(PTRACE_PEEKTEXT, tid, word + have, 0);

		if (errno)
			break;
		memcpy(code + have, &part, sizeof(part));
		have += sizeof(part);
	}
	return have > ip % 8 && insn_decode(code + ip % 8, have - ip % 8, ret);
}

int arch_trap_emulate(pid_t tid, struct regs *regs, uint64_t tsc)
{
	enum { RDTSC = 0x31, CPUID = 0xa2, GROUP7 = 0x01, RDTSCP = 0xf9 };
	struct user_regs_struct *u = &regs->user;
	struct insn insn;

	if (!read_insn(tid, u->rip, &insn) || insn.map != MAP_0F)
		return 0;
	if (insn.opcode == CPUID) {
		put_model(u);
	} else if (insn.opcode == RDTSC || (insn.opcode == GROUP7 && insn.modrm == RDTSCP)) {
		if (insn.opcode == GROUP7)
			u->rcx = 0;
		u->rax = (uint32_t)tsc;
		u->rdx = tsc >> 32;
	} else
		return 0;
	u->rip += insn.length;
	return 1;
}
