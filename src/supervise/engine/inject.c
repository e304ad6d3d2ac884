/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that the supervisor makes the guest execute.
 *
 * How it works: at a seccomp stop the number and arguments are exchanged for the injected call's,
 * the task runs to the exit stop, and its own registers are put back by whatever the loop does
 * next: answering the call there, or running the instruction again. A second injection in the same
 * stop sends the task back over the same instruction: that passes an entry stop before the exit
 * stop.
 */
#include "supervise/engine/inject.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include "base/bytes.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/loop.h"
#include "supervise/engine/stop.h"
#include "supervise/engine/vdso.h"
#include "wire/sysnr.h"

static int64_t run_to_exit(struct task *t, int stops)
{
	struct regs after;

	for (int i = 0; i < stops; i++) {
		if (ptrace(PTRACE_SYSCALL, t->tid, 0, 0) < 0 || loop_wait_syscall_stop(t) < 0)
			return -ESRCH;
	}
	if (arch_regs_read(t->tid, &after) < 0)
		return -ESRCH;
	t->at_exit = true;
	return arch_result_get(&after);
}

/* The task goes through user mode on its way to the instruction: no signal may come in between. */
static int64_t run_through(struct task *t, const struct regs *regs)
{
	uint64_t mask, all = UINT64_MAX;
	int64_t r;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) < 0 ||
		ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(all), &all) < 0 ||
		arch_regs_write(t->tid, regs) < 0)
		return -ESRCH;
	r = run_to_exit(t, 2);
	if (ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) < 0)
		return -ESRCH;
	return r;
}

int64_t inject(struct task *t, int nr, const uint64_t arg[6])
{
	struct regs regs = *stop_regs(t);

	if (!arch_can_inject(&regs))
		return -ENOSYS;
	if (t->at_exit) {
		arch_inject(&regs, arch_ip(&t->regs) - arch_insn_length, nr, arg);
		return run_through(t, &regs);
	}
	for (int i = 0; i < 6; i++)
		arch_call_set_arg(&regs, i, arg[i]);
	if (arch_call_set_nr(t->tid, &regs, nr) < 0 || arch_regs_write(t->tid, &regs) < 0)
		return -ESRCH;
	return run_to_exit(t, 1);
}

int64_t inject_at_exec(struct task *t, int nr, const uint64_t arg[6])
{
	uint64_t gadget = vdso_gadget(t->mm);
	struct regs before, regs;
	int64_t r;

	if (!gadget)
		return -ENOSYS;
	/* The exec call itself ends first, once. */
	if (!t->at_exit && run_to_exit(t, 1) < 0)
		return -ESRCH;
	if (arch_regs_read(t->tid, &before) < 0)
		return -ESRCH;
	regs = before;
	arch_inject(&regs, gadget, nr, arg);
	r = run_through(t, &regs);
	return arch_regs_write(t->tid, &before) < 0 ? -ESRCH : r;
}

int inject_page(struct task *t)
{
	const uint64_t arg[6] = {ARCH_COUNTER_PAGE, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0};
	int64_t r;

	if (t->mm->ready)
		return 0;
	r = inject(t, NR_mmap, arg);
	if (r == -ESRCH)
		return -ESRCH;
	if (r != (int64_t)ARCH_COUNTER_PAGE)
		return r < 0 ? (int)r : -ENOMEM;
	vdso_set_ready(t->mm);
	return 0;
}
