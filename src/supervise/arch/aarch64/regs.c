/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of an arm64 task at its stops: see arch.h.
 *
 * How it works: x8 holds the number when the call is made, but from then on the kernel goes by a
 * number of its own, the register set NT_ARM_SYSTEM_CALL; -1 there skips the call, and also tells
 * the signal code that the task is in no call. x0 is the first argument and the result. The kernel
 * keeps the argument aside (orig_x0) for restarting a call, and ptrace cannot write that.
 *
 * Putting a call back for a signal. x86-64 decides about a restart after the tracer has seen the
 * signal; arm64 before (do_signal in arch/arm64/kernel/signal.c): it looks at x0, moves pc back to
 * the instruction, then asks for the signal, and afterwards turns that into EINTR unless the
 * handler has SA_RESTART. So registers changed at the signal's stop come too late.
 * arch_call_reissue therefore lets the kernel do a harmless call in place of the parked one, puts
 * ERESTART... in x0 at its exit stop, and asks for a ptrace trap, which is taken inside do_signal
 * after pc was moved back and before any signal is. There the task stands as if it had been
 * interrupted in its own call: whatever signal follows gets the kernel's own treatment, and without
 * one the call is simply made again.
 *
 * Tried on Debian's kernels 6.1 and 6.12 in an emulated machine (qemu-system-aarch64), where
 * signals, restarts and all registers over calls come out as on x86-64. qemu-user has no ptrace.
 * What only a real CPU can prove is the instruction cache: that it sees stubs written through
 * /proc/PID/mem.
 */
#include "supervise/arch.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "supervise/engine/call.h"
#include "wire/sysnr.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

enum { X_NUMBER = 8, NO_CALL = -1 };

const unsigned arch_insn_length = 4;
const unsigned arch_flags_word =
	offsetof(struct user_regs_struct, pstate) / sizeof(unsigned long long);
const uint32_t arch_audit = AUDIT_ARCH_AARCH64;
const bool arch_has_atomics = false;
const uint32_t arch_nr_limit = 0x3fffffff; /* there is no foreign range; the call -1 is beyond */

int arch_regs_read(pid_t tid, struct regs *ret_regs)
{
	struct iovec iov = {&ret_regs->user, sizeof(ret_regs->user)};
	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0 ? -1 : 0;
}

int arch_regs_write(pid_t tid, const struct regs *regs)
{
	struct regs copy = *regs;
	struct iovec iov = {&copy.user, sizeof(copy.user)};
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov) < 0 ? -1 : 0;
}

static int set_number(pid_t tid, int nr)
{
	struct iovec iov = {&nr, sizeof(nr)};
	return ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &iov) < 0 ? -1 : 0;
}

void arch_call_get(const struct regs *regs, struct call *ret_call)
{
	const unsigned long long *x = regs->user.regs;
	*ret_call = (struct call){
		.nr = (int)x[X_NUMBER],
		.arg = {x[0], x[1], x[2], x[3], x[4], x[5]},
	};
}

int arch_call_read(pid_t tid, struct call *ret_call)
{
	struct regs regs;

	if (arch_regs_read(tid, &regs) < 0)
		return -1;
	arch_call_get(&regs, ret_call);
	return 0;
}

int arch_call_answer(pid_t tid, int64_t result)
{
	struct regs regs;

	return arch_regs_read(tid, &regs) < 0 ? -1 : arch_call_skip(tid, &regs, result);
}

int arch_call_skip(pid_t tid, struct regs *regs, int64_t result)
{
	regs->user.regs[0] = (unsigned long long)result;
	return set_number(tid, NO_CALL) < 0 ? -1 : arch_regs_write(tid, regs);
}

int arch_call_set_nr(pid_t tid, struct regs *regs, int nr)
{
	(void)regs; /* x8 stays the guest's: a system call preserves it */
	return set_number(tid, nr);
}

void arch_call_set_arg(struct regs *regs, int i, uint64_t value)
{
	regs->user.regs[i] = value;
}

int64_t arch_result_get(const struct regs *regs)
{
	return (int64_t)regs->user.regs[0];
}

void arch_result_set(struct regs *regs, int64_t result)
{
	regs->user.regs[0] = (unsigned long long)result;
}

static void put_call(struct regs *regs, const struct call *call)
{
	for (int i = 0; i < 6; i++)
		arch_call_set_arg(regs, i, call->arg[i]);
	regs->user.regs[X_NUMBER] = (unsigned long long)call->nr;
}

/*
 * Waits for t's next stop. A death is left for whoever waits for all tasks; then -1 with ESRCH, as
 * for every other request to a dead task.
 */
static int wait_stop(pid_t tid, int *ret_status)
{
	siginfo_t info;
	do
		info = (siginfo_t){0};
	while (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0 &&
		errno == EINTR);
	if (info.si_pid == tid && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED) &&
		waitpid(tid, ret_status, __WALL) == tid)
		return 0;
	errno = ESRCH;
	return -1;
}

static bool is_at_exit(pid_t tid)
{
	struct __ptrace_syscall_info info = {0};
	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_EXIT;
}

/* From a seccomp stop to an exit stop, by a call without effect. */
static int go_to_exit(pid_t tid)
{
	int status;
	if (is_at_exit(tid))
		return 0;
	return set_number(tid, NR_gettid) < 0 || ptrace(PTRACE_SYSCALL, tid, 0, 0) < 0 ||
			       wait_stop(tid, &status) < 0
		       ? -1
		       : 0;
}

int arch_call_reissue(pid_t tid, struct regs *regs, const struct call *call, int restart)
{
	int status;
	put_call(regs, call);
	if (!restart || restart == EINTR) {
		/* Nothing to restart: without a number the kernel looks at no x0. */
		regs->user.pc -= arch_insn_length;
		return set_number(tid, NO_CALL) < 0 ? -1 : arch_regs_write(tid, regs);
	}
	if (go_to_exit(tid) < 0)
		return -1;
	arch_result_set(regs, -restart);
	if (arch_regs_write(tid, regs) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ||
		ptrace(PTRACE_CONT, tid, 0, 0) < 0 || wait_stop(tid, &status) < 0)
		return -1;
	/* x0 is orig_x0 now, which is an injected call's if one was made by way of user mode. */
	regs->user.pc -= arch_insn_length;
	put_call(regs, call);
	return arch_regs_write(tid, regs);
}

int arch_call_interrupt(struct regs *regs, const struct call *call, uint64_t at_ip, int restart)
{
	(void)call; /* all was done when the call was put back */
	if (regs->user.pc != at_ip)
		return 0;
	if (restart == EINTR) {
		regs->user.pc += arch_insn_length;
		arch_result_set(regs, -EINTR);
	}
	return 1;
}

uint64_t arch_ip(const struct regs *regs)
{
	return regs->user.pc;
}

void arch_set_ip(struct regs *regs, uint64_t ip)
{
	regs->user.pc = ip;
}

uint64_t arch_sp(const struct regs *regs)
{
	return regs->user.sp;
}

bool arch_can_inject(const struct regs *regs)
{
	(void)regs; /* arm64 never had such a page */
	return true;
}

void arch_inject(struct regs *regs, uint64_t ip, int nr, const uint64_t arg[6])
{
	for (int i = 0; i < 6; i++)
		arch_call_set_arg(regs, i, arg[i]);
	regs->user.regs[X_NUMBER] = (unsigned long long)nr;
	regs->user.pc = ip;
}

uint64_t arch_clone_child_tid(const struct call *call)
{
	return call->arg[4]; /* CONFIG_CLONE_BACKWARDS: tls comes before it */
}

/* svc #n */
bool arch_is_call(const unsigned char *code, size_t len)
{
	return len >= 4 && (bytes_load_u32(code) & 0xffe0001f) == 0xd4000001;
}

bool arch_is_atomic(const unsigned char *code, size_t len)
{
	(void)code;
	(void)len;
	return false;
}
