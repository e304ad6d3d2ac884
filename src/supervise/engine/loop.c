/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop.
 *
 * How it works: exactly one guest task runs; all others stand at a ptrace stop. The loop resumes
 * it, waits for a report of any task, and acts on it. Reports of other tasks come only from what
 * the running one caused (a child's first stop, deaths by exit_group, SIGKILL or exec); deaths of a
 * whole process are collected to the end before anybody else runs, since their order is the host's.
 *
 * A timer of the host (SIGALRM) interrupts the wait now and then: a task that sleeps in the kernel
 * for three ticks stands in a call that nobody modelled. It is reported and the others go on.
 */
#include "supervise/engine/loop.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervise/engine/choice.h"
#include "supervise/engine/exec.h"
#include "supervise/engine/futex.h"
#include "supervise/engine/handlers.h"
#include "supervise/host.h"
#include "supervise/io/io.h"
#include "supervise/io/room.h"
#include "supervise/engine/life.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/signals.h"
#include "supervise/engine/stop.h"
#include "supervise/spin/spin.h"
#include "supervise/io/watch.h"

#define STATUS_EVENT(status) ((unsigned)(status) >> 16)

enum { BLOCK_TICKS = 3, STASH = 64 };

static struct process *first;
static struct task *current;
static bool ending;
static int block_ticks;
static bool current_runs; /* resumed and no report yet */

/* Reports that were read before their time: of children whose creation is not known yet. */
static struct {
	pid_t tid;
	int status;
} stash[STASH];
static int stash_len;
static struct task *held; /* a handler has it in hands: its death is told afterwards */

bool loop_is_ending(void)
{
	return ending || life_is_over();
}

void loop_forget(const struct task *t)
{
	if (current == t)
		current = NULL;
}

void loop_end(void)
{
	ending = true;
}

static void resume(struct task *t)
{
	int sig = t->signal;

	t->signal = 0;
	t->state = TASK_RUNNING;
	block_ticks = 0;
	current_runs = true;
	if (ptrace((enum __ptrace_request)choice_request(t), t->tid, 0, sig) < 0 && errno != ESRCH)
		abort();
}

static void stash_put(pid_t tid, int status)
{
	if (stash_len == STASH)
		abort();
	stash[stash_len].tid = tid;
	stash[stash_len++].status = status;
}

void loop_hold(struct task *t)
{
	held = t;
}

static int stash_take(pid_t tid, int *ret_status)
{
	for (int i = 0; i < stash_len; i++)
		if (stash[i].tid == tid) {
			*ret_status = stash[i].status;
			stash[i] = stash[--stash_len];
			return 1;
		}
	return 0;
}

int loop_wait_tid(pid_t tid, int *ret_status)
{
	if (stash_take(tid, ret_status))
		return 0;
	for (;;) {
		if (waitpid(tid, ret_status, __WALL) == tid)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

static void on_stop(struct task *t, int status)
{
	int sig = WSTOPSIG(status);
	unsigned event = STATUS_EVENT(status);

	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		stop_at_call(t);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		life_birth(t, event);
		choice_at_birth(t);
		return;
	case PTRACE_EVENT_EXEC:
		life_release_vfork(t);
		choice_cancel(t);
		exec_done(t);
		return;
	case PTRACE_EVENT_STOP:
		if (sig == SIGTRAP && t == current && spin_on_stop(t))
			return;
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			signals_group_stop(t);
		return;
	default:
		break;
	}
	if (sig == (SIGTRAP | 0x80)) {
		bool passed = choice_passed(t);

		if (t->leaving || !passed)
			stop_at_leave(t);
	} else if (!choice_stepped(t, sig))
		signals_deliver(t, sig);
}

void loop_report(pid_t tid, int status)
{
	bool is_exec = WIFSTOPPED(status) && STATUS_EVENT(status) == PTRACE_EVENT_EXEC;
	struct task *t = is_exec ? life_exec_renamed(tid) : task_find(tid);

	if (!t) {
		if (WIFSTOPPED(status) && stash_len < STASH)
			stash_put(tid, status);
		return;
	}
	if (t == current) {
		current_runs = false;
		if (!WIFSTOPPED(status) || STATUS_EVENT(status) != PTRACE_EVENT_STOP)
			spin_stopped(
				WIFSTOPPED(status) && STATUS_EVENT(status) == PTRACE_EVENT_SECCOMP);
	}
	if (!WIFSTOPPED(status)) {
		if (t == held)
			stash_put(tid, status);
		else
			life_task_gone(t, status);
		return;
	}
	if (t->state == TASK_NATIVE || t->state == TASK_STOPPED || t->state == TASK_LEFT) {
		bool was_stopped = t->state == TASK_STOPPED;

		t->state = TASK_RUNNING;
		on_stop(t, status);
		if (was_stopped && t->state == TASK_RUNNING)
			signals_group_continue(t->proc);
		if (t->state == TASK_RUNNING)
			sched_enqueue(t);
		return;
	}
	on_stop(t, status);
}

int loop_wait_syscall_stop(struct task *t)
{
	int status;

	for (;;) {
		if (loop_wait_tid(t->tid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		/* The filter traces the injected call too; an interruption may still be under way.
		 */
		if ((STATUS_EVENT(status) != PTRACE_EVENT_SECCOMP &&
			    STATUS_EVENT(status) != PTRACE_EVENT_STOP) ||
			ptrace(PTRACE_SYSCALL, t->tid, 0, 0) < 0)
			break;
	}
	stash_put(t->tid, status); /* its death: told when the loop waits for it next */
	return -1;
}

/* Somebody is on the way out; not the current task while it still stands before its exit call. */
static bool anybody_dying(void)
{
	const struct process *standing = current && !current_runs ? current->proc : NULL;

	for (struct process *p = process_list; p; p = p->next)
		if (p->dying && p->tasks > 0 && p != standing)
			return true;
	return false;
}

static void tick(void)
{
	struct task *t = current;
	struct host_call call;

	if (!t || t->state != TASK_RUNNING)
		return;
	if (life_leader_killed(t)) {
		current = NULL;
		return;
	}
	if (!host_task_sleeps(t->tid, &call)) {
		block_ticks = 0;
		spin_tick(t);
		return;
	}
	/* Output waits for the host's reader, however slow: no time passes inside meanwhile. */
	if (++block_ticks < BLOCK_TICKS || io_is_write_to_host(t, &call))
		return;
	report_not_enforced(REASON_NATIVE_BLOCK, "%s blocked in the kernel and is not modelled",
		host_call_name(&call));
	t->state = TASK_NATIVE;
	current = NULL;
}

static void pass_signal(int sig)
{
	if (first && !first->zombie && kill(first->pid, sig) == 0)
		sched_signals_changed();
}

void loop_host_signals(void)
{
	int sig;

	if (host_take_alarm()) {
		report_flush();
		watch_tick();
		tick();
	}
	host_take_message();
	/* At a question: nobody ran, so it comes where it came. */
	sig = report_asked_signal();
	if (sig)
		pass_signal(sig);
	while ((sig = report_poll_signal()) != 0) {
		report_not_enforced(REASON_SIGNAL_FROM_OUTSIDE, "signal %d came from outside", sig);
		pass_signal(sig);
	}
}

/* One report, or one interruption by the host: false. Stashed deaths of known tasks come first. */
static bool wait_report(void)
{
	pid_t tid;
	int status;

	for (int i = 0; i < stash_len; i++)
		if (task_find(stash[i].tid) && (!held || stash[i].tid != held->tid)) {
			tid = stash[i].tid;
			status = stash[i].status;
			stash[i] = stash[--stash_len];
			loop_report(tid, status);
			return true;
		}
	tid = waitpid(-1, &status, __WALL);
	if (tid > 0)
		loop_report(tid, status);
	else if (errno == EINTR)
		loop_host_signals();
	else
		ending = true; /* ECHILD: nothing is left */
	return tid > 0;
}

bool loop_wait_any(void)
{
	report_flush();
	return wait_report();
}

static void drain_dying(void)
{
	while (anybody_dying() && !ending)
		wait_report();
}

int loop_kill_process(struct process *p)
{
	if (kill(p->pid, SIGKILL) < 0)
		return -1;
	p->killed = true;
	p->dying = true;
	drain_dying();
	return 0;
}

/*
 * Those who wanted to die with a parent that is gone, one after the other. The current task may be
 * among them: it stands at a stop, so that nobody looks at it any more.
 */
static void kill_doomed(void)
{
	for (struct process *p = process_list, *next; p && !loop_is_ending(); p = next) {
		next = p->next;
		if (!p->doomed)
			continue;
		p->doomed = false;
		if (current && current->proc == p)
			current = NULL;
		if (!p->zombie && loop_kill_process(p) == 0)
			next = process_list; /* as in a kill of many: from the start */
	}
}

/* It was preempted before its call, and now is its turn. */
static void answer_held(struct task *t)
{
	t->state = TASK_RUNNING;
	current_runs = false;
	stop_answer(t);
	sched_signals_changed(); /* one may have come meanwhile, which a parked call has to hear of
				  */
}

/* False: t left its group, and nothing more is to come of it. */
static bool run_to_report(struct task *t)
{
	if (t->state == TASK_RUNNING || t->state == TASK_RUNNABLE) {
		bool leaves = t->exiting;

		resume(t);
		if (leaves && life_leader_left(t)) {
			current = NULL;
			return false;
		}
	}
	do
		wait_report();
	while (current == t && current_runs);
	return true;
}

static void run_current(void)
{
	spin_restart();
	while (current && !loop_is_ending()) {
		struct task *t = current;

		if (t->choice.holds)
			answer_held(t);
		else if (!spin_retry(t) && !run_to_report(t))
			return;
		drain_dying();
		kill_doomed();
		if (!current)
			return;
		if (t->state != TASK_RUNNING) {
			current = NULL;
			return;
		}
		if (t->give_way) {
			t->give_way = false;
			current = NULL;
			sched_enqueue(t);
		}
	}
}

int loop_run(struct process *the_first)
{
	uint32_t last = 0;

	first = the_first;
	life_init(first);
	for (;;) {
		drain_dying();
		kill_doomed();
		current = sched_next();
		room_forget();
		if (!current)
			break;
		if (current->ordinal != last) {
			uint64_t args[3] = {current->ordinal, 0, 0};

			report_counts.switches++;
			report_decision(DECISION_SWITCH, NULL, 0, args, 0);
		}
		last = current->ordinal;
		run_current();
	}
	return life_status();
}

void loop_init(void)
{
	host_init();
}
