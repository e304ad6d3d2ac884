/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals between guests, and to them when their timers or their own calls raise one.
 *
 * How it works: signals sent by guests are queued by the kernel as always; the target stands at a
 * ptrace stop and takes them when it is next resumed. A task parked in a call must be resumed for
 * that: its call is put back (the instruction will run again), and the kernel delivers the signal
 * before it does. At that delivery the task is made to look as if the kernel had interrupted it in
 * the call, so that the kernel itself applies SA_RESTART or EINTR.
 */
#include "supervise/engine/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/handlers.h"
#include "supervise/hidden/hidden.h"
#include "supervise/io/io.h"
#include "supervise/engine/loop.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/engine/stop.h"
#include "supervise/sys/itimer.h"
#include "supervise/sys/ptimer.h"
#include "supervise/sys/time.h"

/* Which signals end its wait, or would be delivered to it. */
static uint64_t open_for(const struct task *t)
{
	return ~(t->park.has_mask ? t->park.mask : sigmask_blocked(t));
}

/*
 * A process-directed signal is taken by one thread: a runnable one that is open for it if there is
 * one (the kernel gives it to that), else the first parked one, the main thread before others. One
 * that was woken for it and did not run yet is such a runnable one.
 */
static bool somebody_takes(const struct process *p, uint64_t sigs)
{
	for (struct task *t = task_list; t; t = t->next) {
		if (t->proc != p || t->state != TASK_RUNNABLE)
			continue;
		if (sigs & (t->park.interrupted ? open_for(t) : ~sigmask_blocked(t)))
			return true;
	}
	return false;
}

/* What it waits for may be there already: the kernel looks at that before it looks at signals. */
static bool has_ended(struct task *t)
{
	enum act act;

	if (t->park.kind != PARK_FD && t->park.kind != PARK_CHILD)
		return false;
	act = stop_try(t);
	if (act == ACT_PARK)
		return false;
	stop_go_on(t, act);
	return true;
}

static void interrupt(struct task *t)
{
	if (has_ended(t))
		return;
	/* Part of a transfer is done: that is the call's answer, and the signal comes after it. */
	if (t->park.progress && sigmask_interrupts(t, sigmask_blocked(t)))
		stop_complete(t, call_done(&t->call, (int64_t)t->park.progress));
	else if (t->park.on_signal && sigmask_interrupts(t, sigmask_blocked(t)))
		stop_complete(t, call_done(&t->call, t->park.on_signal));
	else if (t->park.on_signal)
		return; /* as if it had not come: the call could not be made again */
	else if (t->park.has_mask)
		stop_complete(t, t->row->leave == leave_none ? ACT_NATIVE : ACT_LEAVE);
	else
		stop_reissue(t);
}

void signals_wake_parked(void)
{
	for (struct task *t = task_list; t; t = t->next) {
		uint64_t open;

		if (t->state != TASK_PARKED && t->state != TASK_SPINNING)
			continue;
		open = open_for(t);
		if (!sigmask_ends_wait(t, sigmask_queued(t, false) & open)) {
			open &= sigmask_queued(t, true);
			if (!sigmask_ends_wait(t, open))
				continue;
			if (somebody_takes(t->proc, open)) {
				sched_signals_changed(); /* until that one has taken it */
				continue;
			}
		}
		if (t->state == TASK_SPINNING)
			sched_enqueue(t); /* it takes the signal when it is resumed */
		else
			interrupt(t);
	}
}

/* The supervisor is pid 1; the kernel's own timers have no sender. */
static bool is_itimer(const siginfo_t *info)
{
	return (info->si_signo == SIGALRM || info->si_signo == SIGVTALRM ||
		       info->si_signo == SIGPROF) &&
	       info->si_code == SI_USER && info->si_pid == 1;
}

bool signals_taken(struct task *t, siginfo_t *info)
{
	bool changed = false;

	if (info->si_signo == SIGCHLD && info->si_code > 0 && (info->si_utime || info->si_stime)) {
		info->si_utime = 0;
		info->si_stime = 0;
		changed = true;
	}
	if (is_itimer(info)) {
		info->si_code = SI_KERNEL;
		info->si_pid = 0;
		info->si_uid = 0;
		changed = true;
	}
	if (info->si_signo == SIGALRM)
		itimer_taken(t->proc);
	return ptimer_taken(t->proc, info) || changed;
}

static void taken_at_stop(struct task *t, siginfo_t *info)
{
	if (!signals_taken(t, info))
		return;
	if (ptrace(PTRACE_SETSIGINFO, t->tid, 0, info) < 0 && errno != ESRCH)
		abort();
}

/*
 * A sender outside of our pid namespace has no number in it. Neither has a signal whose siginfo the
 * kernel had no room for, which shows root for its sender.
 */
static bool is_from_outside(const siginfo_t *info)
{
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
		       info->si_code == SI_TKILL) &&
	       info->si_pid == 0 && info->si_uid != 0;
}

static void interrupt_call(struct task *t, struct regs *regs, int sig)
{
	/* Dropped on delivery: the call goes on, and another signal may interrupt it. */
	if (sigmask_ignores(t, sig)) {
		t->park.interrupted = true;
		return;
	}
	t->reissued = false;
	if (!arch_call_interrupt(regs, &t->call, t->reissue_ip, t->restart))
		return;
	if (sigmask_catches(t, sig)) {
		sys_time_interrupted(t);
		t->park = (struct park){0};
		timer_disarm(&t->park_timer);
	} else
		t->park.interrupted = true;
	if (arch_regs_write(t->tid, regs) < 0 && errno != ESRCH)
		abort();
}

/* What another task or the guest itself sends while it stands at such an instruction is a signal.
 */
static bool is_trap(pid_t tid, int sig)
{
	siginfo_t info;

	return sig == SIGSEGV && ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 &&
	       info.si_code == SI_KERNEL;
}

/* As a breakpoint instruction raises it. */
static bool is_breakpoint(pid_t tid, int sig)
{
	siginfo_t info;

	return sig == SIGTRAP && ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 &&
	       (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

void signals_deliver(struct task *t, int sig)
{
	struct regs regs;
	siginfo_t info;

	if (arch_regs_read(t->tid, &regs) < 0)
		return;
	if (is_trap(t->tid, sig) && arch_trap_emulate(t->tid, &regs, clock_monotonic())) {
		if (arch_regs_write(t->tid, &regs) < 0 && errno != ESRCH)
			abort();
		/* A read of the clock that costs a stop: judged like those that cost none. */
		if (++t->mm->trapped == SCHED_WINDOW) {
			t->mm->trapped = 0;
			(void)sched_clock_reads(t, SCHED_WINDOW);
		}
		return;
	}
	if (is_breakpoint(t->tid, sig) && hidden_trap(t, &regs)) {
		if (arch_regs_write(t->tid, &regs) < 0 && errno != ESRCH)
			abort();
		return;
	}
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0)
		return;
	if (ptimer_is_over(t->proc, &info)) {
		t->park.interrupted |= t->reissued; /* the call goes on */
		return;
	}
	if (is_from_outside(&info))
		report_not_enforced(REASON_SIGNAL_FROM_OUTSIDE, "signal %d came from outside", sig);
	if (t->reissued)
		interrupt_call(t, &regs, sig);
	io_signal_taken(t, sig);
	taken_at_stop(t, &info);
	t->signal = sig;
	report_decision(DECISION_SIGNAL, t, sig, NULL, 0);
}

static bool is_stopped(const struct process *p)
{
	for (const struct task *t = task_list; t; t = t->next)
		if (t->proc == p && t->state == TASK_STOPPED)
			return true;
	return false;
}

/* A call that a stop alone ends; the others go on after it, with what is left of their time. */
static void end_by_stop(struct task *t)
{
	struct regs regs;

	if (!t->reissued || t->restart != EINTR || arch_regs_read(t->tid, &regs) < 0 ||
		!arch_call_interrupt(&regs, &t->call, t->reissue_ip, EINTR))
		return;
	t->reissued = false;
	if (arch_regs_write(t->tid, &regs) < 0 && errno != ESRCH)
		abort();
}

/* Nobody in the session but outside the group is the parent of a member: will_become_orphaned_pgrp.
 */
static bool is_orphaned(pid_t group)
{
	for (const struct process *p = process_list; p; p = p->next) {
		const struct process *parent = process_find(p->parent);

		if (p->zombie || getpgid(p->pid) != group)
			continue;
		if (parent && !parent->zombie && getpgid(parent->pid) != group &&
			getsid(parent->pid) == getsid(p->pid))
			return false;
	}
	return true;
}

/* The kernel sent SIGHUP and SIGCONT: the report of it comes, unless the group was orphaned in
 * another way meanwhile. */
static void wait_for_report(struct task *t)
{
	enum { TRIES = 20000 };
	int status;

	for (int i = 0; i < TRIES; i++) {
		pid_t r = waitpid(t->tid, &status, __WALL | WNOHANG);

		if (r == t->tid)
			loop_report(r, status);
		if (r != 0)
			return;
		usleep(50);
	}
}

void signals_after_death(void)
{
	for (struct task *t = task_list, *next; t; t = next) {
		pid_t tid = t->tid;

		next = t->next;
		if (t->state != TASK_STOPPED || t->proc->stopped_orphan ||
			!is_orphaned(getpgid(t->proc->pid)))
			continue;
		wait_for_report(t);
		if (task_find(tid) == t && t->state == TASK_STOPPED)
			t->proc->stopped_orphan = true; /* not to be waited for again */
		next = task_list; /* it may have died of it, and others with it */
	}
}

/* A group stops thread by thread: those that are parked have to run for it. */
void signals_group_stop(struct task *t)
{
	bool all = true;

	end_by_stop(t);
	t->state = TASK_STOPPED;
	if (ptrace(PTRACE_LISTEN, t->tid, 0, 0) < 0 && errno != ESRCH)
		abort();
	for (struct task *q = task_list; q; q = q->next) {
		if (q->proc != t->proc)
			continue;
		if (q->state == TASK_PARKED)
			interrupt(q);
		if (q->state == TASK_SPINNING)
			sched_enqueue(q);
		if (q->state != TASK_STOPPED && q->state != TASK_LEFT)
			all = false;
	}
	if (!all)
		return;
	t->proc->stopped_orphan = is_orphaned(getpgid(t->proc->pid));
	t->proc->stop_untold = true;
	t->proc->continued_untold = false;
	sched_children_changed();
	sched_signals_changed(); /* SIGCHLD */
}

void signals_group_continue(struct process *p)
{
	if (is_stopped(p))
		return; /* only another thread of it so far */
	p->stop_untold = false;
	p->continued_untold = true;
	sched_children_changed();
	sched_signals_changed(); /* SIGCHLD */
}

bool signals_is_target(const struct process *p, pid_t pid, pid_t sender_group)
{
	if (pid > 0)
		return p->pid == pid;
	if (pid == -1)
		return true;
	/* No group has this number, whose negative there is not. */
	if (pid == INT32_MIN)
		return false;
	return getpgid(p->pid) == (pid ? -pid : sender_group);
}

/* SIGCONT wakes a stopped task whatever its mask says: its report is certain, so it is waited for.
 */
void signals_continued(const struct task *sender, pid_t pid)
{
	pid_t group = getpgid(sender->proc->pid);

	for (struct task *t = task_list, *next; t; t = next) {
		int status;

		next = t->next;
		if (t->state != TASK_STOPPED || !signals_is_target(t->proc, pid, group))
			continue;
		if (loop_wait_tid(t->tid, &status) == 0)
			loop_report(t->tid, status);
	}
	sched_children_changed();
}

void signals_send_timer(struct process *p, int sig)
{
	if (kill(p->pid, sig) < 0 && errno != ESRCH)
		abort();
	sched_signals_changed();
}
