/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of an x86-64 task at its stops: see arch.h. */
#include "supervise/arch.h"

#include <linux/audit.h>
#include <stddef.h>
#include <sys/ptrace.h>

#include "supervise/engine/call.h"

const unsigned arch_insn_length = 2;
const unsigned arch_flags_word =
	offsetof(struct user_regs_struct, eflags) / sizeof(unsigned long long);
const uint32_t arch_audit = AUDIT_ARCH_X86_64;
const bool arch_has_atomics = true;
const uint32_t arch_nr_limit = 0x3fffffff; /* from __X32_SYSCALL_BIT on it is x32 */

int arch_regs_read(pid_t tid, struct regs *ret_regs)
{
	return ptrace(PTRACE_GETREGS, tid, 0, &ret_regs->user) < 0 ? -1 : 0;
}

int arch_regs_write(pid_t tid, const struct regs *regs)
{
	return ptrace(PTRACE_SETREGS, tid, 0, &regs->user) < 0 ? -1 : 0;
}

static unsigned long long *arg_register(struct regs *regs, int i)
{
	struct user_regs_struct *u = &regs->user;

	switch (i) {
	case 0:
		return &u->rdi;
	case 1:
		return &u->rsi;
	case 2:
		return &u->rdx;
	case 3:
		return &u->r10;
	case 4:
		return &u->r8;
	default:
		return &u->r9;
	}
}

void arch_call_get(const struct regs *regs, struct call *ret_call)
{
	const struct user_regs_struct *u = &regs->user;

	*ret_call = (struct call){
		.nr = (int)u->orig_rax,
		.arg = {u->rdi, u->rsi, u->rdx, u->r10, u->r8, u->r9},
	};
}

/* Half the time of reading all registers, and three quarters of it when it comes to the answer. */
int arch_call_read(pid_t tid, struct call *ret_call)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return -1;
	*ret_call = (struct call){.nr = (int)info.seccomp.nr};
	for (int i = 0; i < 6; i++)
		ret_call->arg[i] = info.seccomp.args[i];
	return 0;
}

int arch_call_answer(pid_t tid, int64_t result)
{
	return ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.orig_rax), -1) < 0 ||
			       ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax),
				       result) < 0
		       ? -1
		       : 0;
}

int arch_call_skip(pid_t tid, struct regs *regs, int64_t result)
{
	regs->user.orig_rax = (unsigned long long)-1;
	regs->user.rax = (unsigned long long)result;
	return arch_regs_write(tid, regs);
}

int arch_call_set_nr(pid_t tid, struct regs *regs, int nr)
{
	(void)tid;
	regs->user.orig_rax = (unsigned long long)nr;
	return 0;
}

void arch_call_set_arg(struct regs *regs, int i, uint64_t value)
{
	*arg_register(regs, i) = value;
}

int64_t arch_result_get(const struct regs *regs)
{
	return (int64_t)regs->user.rax;
}

void arch_result_set(struct regs *regs, int64_t result)
{
	regs->user.rax = (unsigned long long)result;
}

int arch_call_reissue(pid_t tid, struct regs *regs, const struct call *call, int restart)
{
	(void)restart; /* the signal's own stop is early enough: arch_call_interrupt */
	regs->user.rip -= arch_insn_length;
	regs->user.rax = (unsigned long long)call->nr;
	regs->user.orig_rax = (unsigned long long)-1;
	return arch_regs_write(tid, regs);
}

int arch_call_interrupt(struct regs *regs, const struct call *call, uint64_t at_ip, int restart)
{
	if (regs->user.rip != at_ip)
		return 0;
	regs->user.rip += arch_insn_length;
	regs->user.orig_rax = (unsigned long long)call->nr;
	regs->user.rax = (unsigned long long)-restart;
	return 1;
}

uint64_t arch_ip(const struct regs *regs)
{
	return regs->user.rip;
}

void arch_set_ip(struct regs *regs, uint64_t ip)
{
	regs->user.rip = ip;
}

uint64_t arch_sp(const struct regs *regs)
{
	return regs->user.rsp;
}

/* The legacy vsyscall page: the kernel kills a task whose tracer changes the number there. */
bool arch_can_inject(const struct regs *regs)
{
	return regs->user.rip < 0xffffffffff600000ull;
}

void arch_inject(struct regs *regs, uint64_t ip, int nr, const uint64_t arg[6])
{
	for (int i = 0; i < 6; i++)
		arch_call_set_arg(regs, i, arg[i]);
	regs->user.rip = ip;
	regs->user.rax = (unsigned long long)nr;
	regs->user.orig_rax = (unsigned long long)-1;
}

uint64_t arch_clone_child_tid(const struct call *call)
{
	return call->arg[3];
}

bool arch_is_call(const unsigned char *code, size_t len)
{
	return len >= 2 && ((code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) ||
				   (code[0] == 0xcd && code[1] == 0x80));
}

/* A lock prefix, or xchg with memory, which locks by itself. */
bool arch_is_atomic(const unsigned char *code, size_t len)
{
	size_t i = 0;

	while (i < len && (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3 ||
				  code[i] == 0x64 || code[i] == 0x65))
		i++;
	if (i < len && code[i] == 0xf0)
		return true;
	if (i < len && (code[i] & 0xf0) == 0x40)
		i++;
	return i + 1 < len && (code[i] == 0x86 || code[i] == 0x87) && code[i + 1] < 0xc0;
}
