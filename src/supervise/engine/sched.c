/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs next.
 *
 * How it works: a running task keeps the CPU until it parks, exits or gives way. At a switch those
 * parked tasks whose descriptors changed (fdwait.h) join the queue's tail in order of creation, and
 * the head of the queue runs; what can not be watched for is tried every time. Before the queue is
 * taken to be empty all are tried once. Then the clock jumps to the earliest timer.
 *
 * Waiting for time without a call that waits: a yield, a zero time-out poll that finds nothing, and
 * a full window of clock reads are idle acts. When every runnable task has collected IDLE_LIMIT of
 * them with no other mediated call by anybody in between, they wait for time: the clock jumps to
 * the next timer. Where there is none, yields and polls move it by 1 ms; clock reads alone never
 * do.
 */
#include "supervise/engine/sched.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "supervise/engine/choice.h"
#include "supervise/engine/deadlock.h"
#include "supervise/engine/fdwait.h"
#include "supervise/io/external.h"
#include "supervise/io/io.h"
#include "supervise/io/outside.h"
#include "supervise/engine/loop.h"
#include "supervise/report.h"
#include "supervise/engine/signals.h"
#include "supervise/engine/stop.h"
#include "supervise/sys/ptimer.h"
#include "supervise/spin/spin.h"

enum {
	IDLE_LIMIT = 20,
	IDLE_STEP_NS = 1000000,
	CLOCK_SPIN_SAY = 20000,
};
static const uint64_t clock_spin_kill = 1 << 24;

static struct task *head, *tail;
static uint32_t runnable;
static uint64_t busy_epoch, park_seq, signal_looks;
static bool idle_can_step; /* a yield or poll was among the idle acts */
static uint64_t reads_in_row;
static bool spin_said;
static bool signals_changed, signals_unseen, children_changed, moved;
static bool has_unwatched; /* somebody may be parked who has to be tried at every switch */
static bool any_spinning;  /* perhaps */
static bool somebody_ran;  /* since all were tried */

void sched_enqueue(struct task *t)
{
	t->state = TASK_RUNNABLE;
	t->queue_next = NULL;
	if (tail)
		tail->queue_next = t;
	else
		head = t;
	tail = t;
	runnable++;
}

void sched_turn(struct task *t)
{
	t->turn = true;
	t->turn_looks = signal_looks;
	sched_enqueue(t);
}

static bool is_unwatched(const struct task *t)
{
	return t->park.kind == PARK_FD && (!t->park.watched || t->park.external);
}

void sched_parked(struct task *t)
{
	has_unwatched |= is_unwatched(t);
}

void sched_budget(struct task *t, enum act act)
{
	bool only_idle = t->budget_epoch == busy_epoch;

	if (++t->stops % SCHED_BUDGET)
		return;
	t->budget_epoch = busy_epoch;
	if (!head)
		return;
	/* Threads share a window of clock reads: one of them may use up the others' each time. */
	if (act == ACT_DONE && only_idle)
		sched_idle(t, SCHED_IDLE_READS);
	else if (act == ACT_DONE)
		t->give_way = true;
	else if (act != ACT_PARK)
		t->overdue = true;
}

bool sched_gives_way_before(struct task *t)
{
	bool due = t->overdue && head;

	t->overdue = false;
	if (due) {
		t->choice.holds = true;
		t->give_way = true;
	}
	return due;
}

void sched_remove(struct task *t)
{
	struct task *before = NULL;

	for (struct task *q = head; q; before = q, q = q->queue_next) {
		if (q != t)
			continue;
		if (before)
			before->queue_next = t->queue_next;
		else
			head = t->queue_next;
		if (tail == t)
			tail = before;
		runnable--;
		return;
	}
}

uint32_t sched_runnable(void)
{
	return runnable;
}

static void park_deadline(struct timer *timer)
{
	struct task *t = timer->owner;

	report_timer_fired(t, timer->deadline_ns);
	t->park.timed_out = true;
	if (t->state == TASK_PARKED && t->park.kind == PARK_FD)
		sched_turn(t);
	else
		sched_wake(t);
}

enum act park_on(struct task *t, enum park_kind kind)
{
	return park_on_until(t, kind, UINT64_MAX);
}

enum act park_on_until(struct task *t, enum park_kind kind, uint64_t deadline_ns)
{
	if (!t->park.kind)
		t->park.seq = ++park_seq;
	t->park.kind = kind;
	if (!t->park.has_deadline) {
		t->park.has_deadline = true;
		t->park.deadline_ns = deadline_ns;
	}
	if (t->park.deadline_ns != UINT64_MAX && !timer_is_armed(&t->park_timer)) {
		timer_arm(&t->park_timer, t->park.deadline_ns, park_deadline, t);
		report_timer_armed(t, t->park.deadline_ns);
	}
	return ACT_PARK;
}

void park_with_mask(struct task *t, uint64_t mask)
{
	t->park.has_mask = true;
	t->park.mask = mask;
}

void park_no_restart(struct task *t)
{
	t->restart = ERESTART_NOHAND;
}

void park_never_restart(struct task *t)
{
	t->restart = EINTR;
}

void park_always_restart(struct task *t)
{
	t->restart = ERESTART_NOINTR;
}

void sched_idle(struct task *t, uint32_t weight)
{
	if (t->idle_epoch != busy_epoch) {
		t->idle_epoch = busy_epoch;
		t->idle = 0;
	}
	t->idle += weight;
	t->give_way = true;
	t->was_idle = true;
	if (weight == SCHED_IDLE_CALL)
		idle_can_step = true;
}

void sched_busy(void)
{
	busy_epoch++;
	idle_can_step = false;
	reads_in_row = 0;
}

uint32_t sched_clock_reads(struct task *t, uint32_t reads)
{
	uint64_t until_said, due;
	uint32_t window;

	report_counts.clock_reads += reads;
	if (t->mm->window_epoch == busy_epoch)
		reads_in_row += reads;
	t->mm->window_epoch = busy_epoch;
	/* A timer that is armed comes first: the jump to it ends the wait. */
	if (reads_in_row >= CLOCK_SPIN_SAY && !spin_said && !timer_next(&due)) {
		spin_said = true;
		report_not_enforced(REASON_CLOCK_SPIN,
			"the guest has read the clock 20000 times in a row with nothing in "
			"between. "
			"Workflow time only advances when an event is applied; use --clock-step-ns "
			"for a program that polls the clock");
	}
	if (reads_in_row >= clock_spin_kill)
		loop_end();
	/* Nobody else could run and nothing is due: there is less to judge. */
	window = head || timer_next(&due) ? SCHED_WINDOW : SCHED_WINDOW_ALONE;
	sched_idle(t, SCHED_IDLE_READS);
	until_said = CLOCK_SPIN_SAY - reads_in_row;
	return !spin_said && until_said < window ? (uint32_t)until_said : window;
}

void sched_signals_changed(void)
{
	signals_changed = true;
}

uint64_t sched_signal_looks(void)
{
	return signal_looks;
}

void sched_children_changed(void)
{
	children_changed = true;
}

void sched_wake(struct task *t)
{
	if (t->state == TASK_PARKED)
		stop_go_on(t, stop_try(t));
}

void sched_signals_unseen(void)
{
	signals_unseen = true;
}

void sched_moved(void)
{
	moved = true;
}

/* Tries those that nobody tells of (with `all`, every descriptor's), again when one moved data. */
static void try_parked(bool all)
{
	do {
		moved = false;
		has_unwatched = false;
		for (struct task *t = task_list, *next; t; t = next) {
			next = t->next;
			if (t->state != TASK_PARKED || t->park.kind != PARK_FD)
				continue;
			if (all || is_unwatched(t))
				stop_go_on(t, stop_try(t));
		}
	} while (moved);
}

/* Those that wait without a call go on when what they read has changed. */
static void look_at_spinning(void)
{
	any_spinning = false;
	for (struct task *t = task_list; t; t = t->next) {
		if (t->state != TASK_SPINNING)
			continue;
		if (spin_is_over(t))
			sched_enqueue(t);
		else
			any_spinning = true;
	}
}

static void retry_parked(void)
{
	struct task **ready = NULL;
	size_t count = fdwait_take(&ready);

	for (size_t i = 0; i < count; i++)
		sched_turn(ready[i]);
	if (children_changed)
		for (struct task *t = task_list; t; t = t->next)
			if (t->state == TASK_PARKED && t->park.kind == PARK_CHILD)
				sched_turn(t);
	children_changed = false;
	if (has_unwatched)
		try_parked(false);
	if (any_spinning)
		look_at_spinning();
}

void sched_spinning(void)
{
	any_spinning = true;
}

/* Everybody in the queue does nothing but wait for time. */
static bool all_idle(void)
{
	for (struct task *t = head; t; t = t->queue_next)
		if (t->idle_epoch != busy_epoch || t->idle < IDLE_LIMIT)
			return false;
	return head != NULL;
}

static void idle_reset(void)
{
	for (struct task *t = head; t; t = t->queue_next)
		t->idle = 0;
}

static void advance(uint64_t to_ns)
{
	uint64_t args[3] = {to_ns - clock_monotonic(), 0, 0};

	report_decision(DECISION_CLOCK, NULL, 0, args, 0);
	clock_advance(to_ns);
}

void sched_let_time_pass(uint64_t to_ns)
{
	advance(to_ns);
}

/* Nobody goes on before due_ns: true when something came from outside before, or a signal did. */
static bool let_in(uint64_t due_ns)
{
	uint64_t now_ns = clock_monotonic();

	switch (external_ask(due_ns, &now_ns)) {
	case EXTERNAL_CAME:
		if (now_ns > clock_monotonic())
			advance(now_ns);
		return true;
	case EXTERNAL_SIGNAL:
		loop_host_signals();
		return true;
	case EXTERNAL_NOTHING:
	case EXTERNAL_NO_MORE:
		break;
	}
	return false;
}

/* Everybody only looks whether something has come, or whether time has passed. */
static void let_time_pass(void)
{
	uint64_t due, step = clock_monotonic() + IDLE_STEP_NS;
	bool is_due = timer_next(&due);

	if (outside_drain())
		return;
	if (external_take_looked()) {
		/* Who looks for input again and again gets it as the host's time goes. */
		due = is_due && due < step ? due : step;
		if (let_in(due))
			return;
		is_due = true;
	}
	if (is_due)
		advance(due);
	else if (idle_can_step)
		advance(step);
}

/* Nobody can run: lets time pass, or waits for the kernel or the outside. False: the end. */
static bool wait_for_something(void)
{
	uint64_t due;
	bool is_due;

	ptimer_before_sleep();
	if (outside_drain()) /* there is room to send more */
		return true;
	for (struct task *t = task_list; t; t = t->next)
		if (t->state == TASK_NATIVE) {
			/* Told already, as not enforced; what it waits for may be up to a timer. */
			if (!loop_wait_any() && timer_next_waking(&due))
				advance(due);
			return true;
		}
	/* Who spins uses CPU time. */
	is_due = any_spinning ? timer_next(&due) : timer_next_waking(&due);
	if (external_is_waited_for() && let_in(is_due ? due : UINT64_MAX))
		return true;
	if (is_due) {
		advance(due);
		return true;
	}
	report_flush();
	if (!external_is_asked_for() && io_wait_external())
		return true;
	deadlock_report();
	loop_end();
	return false;
}

struct task *sched_next(void)
{
	for (;;) {
		struct task *t;
		uint64_t due;

		if (loop_is_ending() || !task_list)
			return NULL;
		if (timer_next(&due) && due <= clock_monotonic())
			clock_advance(clock_monotonic()); /* a sleep of nothing */
		retry_parked(); /* before signals: a call that can answer does not end with EINTR */
		if (signals_changed || signals_unseen) {
			signals_changed = false;
			signal_looks++;
			signals_wake_parked();
		}
		if (all_idle()) {
			let_time_pass();
			idle_reset();
			if (signals_changed)
				continue;
		}
		if (!head && somebody_ran) {
			somebody_ran = false;
			try_parked(true);
			continue;
		}
		if (!head) {
			if (!wait_for_something())
				return NULL;
			continue;
		}
		t = choice_next(head);
		sched_remove(t);
		if (t->turn && !stop_take_turn(t))
			continue;
		somebody_ran = true;
		return t;
	}
}
