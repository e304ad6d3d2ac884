/* SPDX-License-Identifier: Apache-2.0 */
/* A task at its call: runs the row's handlers and makes the kernel do what they answered. */
#include "supervise/engine/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "supervise/engine/choice.h"
#include "supervise/engine/fdwait.h"
#include "supervise/engine/filter.h"
#include "supervise/engine/futex.h"
#include "supervise/host.h"
#include "supervise/engine/loop.h"
#include "supervise/io/room.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/spin/spin.h"

const struct regs *stop_regs(struct task *t)
{
	/* Killed meanwhile: nothing will be made of them. */
	if (!t->has_regs && arch_regs_read(t->tid, &t->regs) < 0)
		t->regs = (struct regs){0};
	t->has_regs = true;
	return &t->regs;
}

void call_set_arg(struct task *t, int i, uint64_t value)
{
	if (!t->changed)
		t->kernel_regs = *stop_regs(t);
	t->changed = true;
	arch_call_set_arg(&t->kernel_regs, i, value);
}

void call_set_nr(struct task *t, int nr)
{
	if (!t->changed)
		t->kernel_regs = *stop_regs(t);
	t->changed = true;
	if (arch_call_set_nr(t->tid, &t->kernel_regs, nr) < 0 && errno != ESRCH)
		abort();
}

/* The kernel shall do the call. After an injection that means from the start. */
static void go_native(struct task *t, bool leave)
{
	if (t->at_exit) {
		struct regs regs = *stop_regs(t);

		t->at_exit = false;
		t->changed = false;
		if (arch_call_reissue(t->tid, &regs, &t->call, 0) < 0 && errno != ESRCH)
			abort();
		return;
	}
	t->leaving = leave || t->changed;
	if (t->changed && arch_regs_write(t->tid, &t->kernel_regs) < 0 && errno != ESRCH)
		abort();
}

static void answer(struct task *t)
{
	struct regs regs;
	int r;

	if (t->at_exit) {
		regs = *stop_regs(t);
		arch_result_set(&regs, t->call.result);
		r = arch_regs_write(t->tid, &regs);
		t->at_exit = false;
	} else
		r = arch_call_answer(t->tid, t->call.result);
	t->changed = false;
	if (r < 0 && errno != ESRCH)
		abort();
}

static enum act unknown_call(struct task *t)
{
	report_not_enforced(
		REASON_UNKNOWN_SYSCALL, "system call %d is unknown to this version", t->call.nr);
	return call_done(&t->call, -ENOSYS);
}

/* What a handler answered; not ACT_PARK. */
static void carry_out(struct task *t, enum act act, bool was_parked)
{
	bool reissued = t->at_exit && (act == ACT_NATIVE || act == ACT_LEAVE);

	timer_disarm(&t->park_timer);
	futex_cancel(t);
	if (was_parked && act != ACT_DONE && t->park.has_mask)
		t->park.interrupted =
			true; /* should the kernel start it again, its deadline stays */
	else
		t->park = (struct park){0};
	if (reissued)
		choice_cancel(t);
	else
		choice_answered(t, t->at_exit);
	if (act == ACT_DONE)
		answer(t);
	else
		go_native(t, act == ACT_LEAVE);
	if (!t->leaving && !reissued &&
		t->mm->vdso) /* not the supervisor's own child before exec */
		report_decision(DECISION_CALL, t, t->call.nr, t->call.arg,
			act == ACT_DONE ? t->call.result : DECISION_NATIVE);
}

void stop_complete(struct task *t, enum act act)
{
	bool was_parked = t->state == TASK_PARKED;

	if (act == ACT_PARK) {
		t->state = TASK_PARKED;
		sched_parked(t);
		return;
	}
	carry_out(t, act, was_parked);
	if (was_parked) {
		sched_busy();
		sched_enqueue(t);
	}
}

enum act stop_try(struct task *t)
{
	enum act act;

	fdwait_begin(t);
	loop_hold(t);
	if (t->for_tracer)
		act = call_done(&t->call, -ENOSYS); /* seccomp(2) */
	else
		act = t->row ? t->row->enter(t, &t->call) : unknown_call(t);
	loop_hold(NULL);
	return act;
}

void stop_go_on(struct task *t, enum act act)
{
	if (act == ACT_DONE || act == ACT_PARK || (!sched_runnable() && !choice_is_on()))
		stop_complete(t, act);
	else
		sched_turn(t);
}

bool stop_take_turn(struct task *t)
{
	enum act act;

	t->turn = false;
	t->was_idle = false;
	t->state = TASK_PARKED;
	act = stop_try(t);
	if (act == ACT_PARK) {
		t->park.fruitless++;
		sched_parked(t);
		/* A signal that came while it stood in the queue was left to it. */
		if (t->turn_looks != sched_signal_looks())
			sched_signals_changed();
		return false;
	}
	sched_busy();
	carry_out(t, act, true);
	t->state = TASK_RUNNABLE;
	if (!t->give_way)
		return true;
	t->give_way = false;
	sched_enqueue(t);
	return false;
}

void stop_reissue(struct task *t)
{
	struct regs regs = *stop_regs(t);

	if (arch_call_reissue(t->tid, &regs, &t->call, t->restart) < 0 && errno != ESRCH)
		abort();
	choice_cancel(t);
	futex_cancel(t);
	t->at_exit = false;
	t->reissued = true;
	t->reissue_ip = arch_ip(&regs);
	t->park.interrupted = true;
	sched_enqueue(t);
}

static bool is_for_tracer(const struct task *t)
{
	unsigned long data = 0;

	return t->proc->own_filter && ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &data) == 0 &&
	       data != FILTER_DATA;
}

void stop_at_call(struct task *t)
{
	report_counts.stops++;
	t->has_regs = false;
	if (arch_call_read(t->tid, &t->call) < 0)
		return;
	if (spin_at_call(t))
		return;
	room_at_call(t, t->call.nr);
	t->row = call_row(t->call.nr);
	t->for_tracer = is_for_tracer(t);
	t->changed = false;
	t->at_exit = false;
	t->reissued = false;
	if (!choice_before_call(t) && !sched_gives_way_before(t))
		stop_answer(t);
}

void stop_answer(struct task *t)
{
	enum act act;

	t->choice.holds = false;
	t->proc->execing = false; /* one that failed */
	t->restart = ERESTART_SYS;
	if (!t->park.interrupted)
		t->park = (struct park){0};
	t->park.interrupted = false;
	t->was_idle = false;
	act = stop_try(t);
	if (!t->was_idle)
		sched_busy();
	stop_complete(t, act);
	sched_budget(t, act);
	host_delay();
}

void stop_at_leave(struct task *t)
{
	struct regs regs;
	int64_t result;

	t->leaving = false;
	if (arch_regs_read(t->tid, &regs) < 0)
		return;
	result = arch_result_get(&regs);
	t->call.result = result;
	if (t->row)
		t->row->leave(t, &t->call);
	if (t->changed) {
		/* Keep what the kernel needs for its own restart handling: only arguments go back.
		 */
		for (int i = 0; i < 6; i++)
			arch_call_set_arg(&regs, i, t->call.arg[i]);
	}
	if (t->changed || t->call.result != result) {
		arch_result_set(&regs, t->call.result);
		if (arch_regs_write(t->tid, &regs) < 0 && errno != ESRCH)
			abort();
	}
	t->changed = false;
	report_decision(DECISION_CALL, t, t->call.nr, t->call.arg, t->call.result);
}
