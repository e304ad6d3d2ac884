/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for signals. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <time.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/engine/signals.h"
#include "supervise/sys/ptimer.h"

#define NS_PER_S 1000000000ull

enum act enter_rt_sigsuspend(struct task *t, struct call *c)
{
	uint64_t mask;

	if (c->arg[1] != sizeof(mask) || gmem_read(t, c->arg[0], &mask, sizeof(mask)) < 0)
		return ACT_NATIVE; /* EINVAL or EFAULT */
	if (sigmask_pending(t) & ~mask)
		return ACT_NATIVE;
	park_with_mask(t, mask);
	return park_on(t, PARK_TIME);
}

enum act enter_rt_sigtimedwait(struct task *t, struct call *c)
{
	uint64_t set, pending, deadline = UINT64_MAX;
	struct timespec ts;

	if (c->arg[3] != sizeof(set) || gmem_read(t, c->arg[0], &set, sizeof(set)) < 0)
		return ACT_NATIVE;
	if (c->arg[2]) {
		if (gmem_read(t, c->arg[2], &ts, sizeof(ts)) < 0 || ts.tv_sec < 0 ||
			ts.tv_nsec < 0 || ts.tv_nsec >= (long)NS_PER_S)
			return ACT_NATIVE;
		if ((uint64_t)ts.tv_sec < UINT64_MAX / 2 / NS_PER_S)
			deadline = clock_monotonic() + (uint64_t)ts.tv_sec * NS_PER_S +
				   (uint64_t)ts.tv_nsec;
	}
	pending = sigmask_pending(t);
	if (sigmask_ends_wait(t, pending & (set | ~sigmask_blocked(t))))
		return ACT_LEAVE;
	if (t->park.timed_out)
		return call_done(c, -EAGAIN);
	if (deadline == clock_monotonic()) {
		sched_idle(t, SCHED_IDLE_CALL);
		return call_done(c, -EAGAIN);
	}
	park_with_mask(t, sigmask_blocked(t) & ~set);
	return park_on_until(t, PARK_TIME, deadline);
}

/* The kernel would not have given it that signal: it begins anew. */
static void wait_again(struct task *t)
{
	struct regs regs;

	if (arch_regs_read(t->tid, &regs) < 0)
		return;
	if (arch_call_reissue(t->tid, &regs, &t->call, 0) < 0 && errno != ESRCH)
		abort();
}

/* What it took from the queue is told as a delivery would be. */
void leave_rt_sigtimedwait(struct task *t, struct call *c)
{
	siginfo_t info;

	if (c->result <= 0)
		return;
	if (!c->arg[1] || gmem_read(t, c->arg[1], &info, sizeof(info)) < 0)
		info = (siginfo_t){.si_signo = (int)c->result};
	if (ptimer_is_over(t->proc, &info)) {
		wait_again(t);
		return;
	}
	if (signals_taken(t, &info) && c->arg[1] &&
		gmem_write(t, c->arg[1], &info, sizeof(info)) < 0)
		c->result = -EFAULT;
}
