/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Births and deaths of guest tasks and processes.
 *
 * How it works: a child is known from its parent's event on and joins the queue once its own first
 * stop was seen. A process is gone when its main thread is reported, which the kernel does last;
 * who dies by exit_group, a signal or exec is collected whole before anybody else runs. The reports
 * of one process come in the host's order: whom its threads' ends wake is therefore put off until
 * all of them are there, and then taken in order of creation.
 */
#include "supervise/engine/life.h"

#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervise/engine/futex.h"
#include "supervise/host.h"
#include "supervise/engine/loop.h"
#include "supervise/io/watch.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/signals.h"
#include "supervise/sys/itimer.h"
#include "supervise/sys/ptimer.h"
#include "supervise/sys/sysv.h"

static struct process *first;
static bool first_gone;
static int first_status;

void life_init(struct process *the_first)
{
	first = the_first;
}

bool life_is_over(void)
{
	return first_gone;
}

int life_status(void)
{
	return first_gone ? first_status : -1;
}

static struct process *child_process(const struct task *t, pid_t pid, uint64_t flags)
{
	const struct process *of = t->proc;
	struct process *p = process_new(pid, flags & CLONE_PARENT ? of->parent : of->pid);

	p->parent_tid = flags & CLONE_PARENT ? of->parent_tid : t->tid;
	p->exit_signal = flags & CLONE_PARENT ? of->exit_signal : (int)(flags & CSIGNAL);
	p->tight = of->tight;
	p->own_filter = of->own_filter;
	memcpy(p->cpu_limits, of->cpu_limits, sizeof(p->cpu_limits));
	return p;
}

void life_birth(struct task *t, unsigned event)
{
	unsigned long tid = 0;
	uint64_t flags = SIGCHLD | (event == PTRACE_EVENT_FORK ? 0 : CLONE_VM | CLONE_VFORK);
	struct task *child;
	struct process *proc;
	struct mm *mm;
	int status;
	uint64_t args[3];

	if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &tid) < 0)
		return;
	if (arch_regs_read(t->tid, &t->regs) < 0)
		return;
	arch_call_get(&t->regs, &t->call);
	if (t->call.nr == SYS_clone)
		flags = t->call.arg[0];
	mm = t->mm;
	if (flags & CLONE_VM)
		mm->refs++;
	else
		mm = mm_copy(mm);
	if (flags & CLONE_THREAD)
		proc = t->proc;
	else {
		proc = child_process(t, (pid_t)tid, flags);
		sysv_processes_changed();
	}
	child = task_new((pid_t)tid, proc, mm);
	child->own_files = flags & CLONE_THREAD && (t->own_files || !(flags & CLONE_FILES));
	if (flags & CLONE_CHILD_CLEARTID)
		child->clear_tid = arch_clone_child_tid(&t->call);
	args[0] = child->ordinal;
	args[1] = flags;
	args[2] = 0;
	report_decision(DECISION_CREATE, t, 0, args, 0);
	child->state = TASK_LEFT; /* until its first stop is seen */
	if (loop_wait_tid(child->tid, &status) == 0) {
		if (WIFSTOPPED(status))
			sched_enqueue(child);
		else
			loop_report(child->tid, status);
	}
	if (flags & CLONE_VFORK) {
		t->state = TASK_VFORK;
		t->vfork_child = child;
	}
	sched_busy();
}

/* Whoever waited in vfork for this child goes on. */
void life_release_vfork(struct task *child)
{
	for (struct task *t = task_list; t; t = t->next)
		if (t->state == TASK_VFORK && t->vfork_child == child) {
			t->vfork_child = NULL;
			sched_enqueue(t);
		}
}

/* ---- ends ---- */

/* A thread that is gone, and whose address to clear in which memory. */
struct death {
	uint32_t ordinal;
	struct mm *mm; /* a reference */
	uint64_t clear_tid;
	struct death *next; /* in order of creation of the threads */
};

static void put_off(struct task *t)
{
	struct death *d = mem_alloc(sizeof(*d)), **at = &t->proc->deaths;

	*d = (struct death){.ordinal = t->ordinal, .mm = t->mm, .clear_tid = t->clear_tid};
	t->mm->refs++;
	while (*at && (*at)->ordinal < d->ordinal)
		at = &(*at)->next;
	d->next = *at;
	*at = d;
	futex_owner_died(t);
}

void life_settle(struct process *p)
{
	if (!p->deaths)
		return;
	for (struct death *d = p->deaths, *next; d; d = next) {
		next = d->next;
		if (d->clear_tid)
			futex_clear_tid(d->mm, d->clear_tid);
		mm_unref(d->mm);
		free(d);
	}
	p->deaths = NULL;
	futex_settle();
}

/* The thread that a process's children are given to when theirs ends. */
static pid_t first_thread(const struct process *p, pid_t but)
{
	for (const struct task *t = task_list; t; t = t->next)
		if (t->proc == p && t->tid != but && !(p->leader_gone && t->tid == p->pid))
			return t->tid;
	return p->pid;
}

static void give_children(const struct process *p, const struct task *from)
{
	for (struct process *q = process_list; q; q = q->next)
		if (q->parent == p->pid && q->parent_tid == from->tid)
			q->parent_tid = first_thread(p, from->tid);
}

/* Who adopts the children of a dead process: its nearest living ancestor that said so, else init.
 */
static pid_t new_parent(const struct process *dead)
{
	const struct process *p = process_find(dead->parent);

	while (p && (p->zombie || !p->subreaper))
		p = process_find(p->parent);
	return p ? p->pid : 1;
}

static pid_t heir_of(pid_t pid)
{
	const struct process *p = process_find(pid);

	return p ? first_thread(p, 0) : pid;
}

/* Some way to be sent SIGKILL without a call that we see: who dies of it may have died of that. */
static bool kill_is_unclear;

void life_kill_unclear(void)
{
	kill_is_unclear = true;
}

/* Nobody inside sent the signal that it died of: the host did, for want of memory or by hand. */
static bool was_killed_outside(const struct process *p, int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !p->killed &&
	       !kill_is_unclear && !watch_has_killed();
}

static void process_gone(struct process *p, int status)
{
	uint64_t args[3] = {p->ordinal, 0, 0};
	struct process *parent = process_find(p->parent);

	if (was_killed_outside(p, status))
		report_killed_outside();
	if (parent && p->exit_signal == SIGKILL)
		parent->killed = true;

	report_decision(DECISION_EXIT, NULL, status, args, 0);
	itimer_stop(p);
	ptimer_stop(p);
	p->end_ns = clock_monotonic();
	p->dying = false;
	p->zombie = true;
	for (struct process *q = process_list, *next; q; q = next) {
		next = q->next;
		if (q->parent == p->pid) {
			q->doomed = q->dies_with_parent;
			q->parent = new_parent(p);
			q->parent_tid = heir_of(q->parent);
			q->exit_signal = SIGCHLD;
			if (q->zombie && q->parent == 1)
				process_free(q);
		}
	}
	if (p == first) {
		first_gone = true;
		first_status = status;
	}
	sysv_processes_changed();
	sched_children_changed();
	sched_signals_changed(); /* SIGCHLD */
	signals_after_death();
	if (p->parent == 1 && p != first)
		process_free(p);
}

/* The guest's own filter killed this thread alone: the others stand where they stood. */
static bool is_alone(const struct task *gone)
{
	if (!gone->proc->own_filter)
		return false;
	for (const struct task *t = task_list; t; t = t->next)
		if (t->proc == gone->proc && t != gone && t->state != TASK_LEFT &&
			host_task_state(t->tid) != 't')
			return false;
	return gone->proc->tasks > 1;
}

/* The same of a main thread, which is not reported before the others are gone. */
bool life_leader_killed(struct task *t)
{
	if (t->tid != t->proc->pid || !t->proc->own_filter || host_task_state(t->tid) != 'Z' ||
		!is_alone(t))
		return false;
	t->exiting = true;
	return life_leader_left(t);
}

void life_task_gone(struct task *t, int status)
{
	struct process *p = t->proc;
	bool leader = t->tid == p->pid;

	if (!t->exiting && !p->execing && !is_alone(t))
		p->dying = true; /* exit_group, or a fatal signal: the others follow */
	sched_remove(t);
	life_release_vfork(t);
	loop_forget(t);
	put_off(t);
	give_children(p, t);
	task_free(t);
	sysv_task_gone();
	if (!p->dying && !p->execing)
		life_settle(p);
	sched_busy();
	/* The main thread went before: its report comes now, and is waited for like a death. */
	if (!leader && p->leader_gone && p->tasks == 1)
		p->dying = true;
	if (leader && p->tasks == 0) {
		life_settle(p);
		process_gone(p, status);
	}
}

/* A main thread that exits before its group: no report comes until the group is gone. */
bool life_leader_left(struct task *t)
{
	if (!t->exiting || t->tid != t->proc->pid || t->proc->tasks == 1)
		return false;
	while (host_task_state(t->tid) != 'Z' && host_task_state(t->tid) != 'X')
		usleep(50);
	t->state = TASK_LEFT;
	t->proc->leader_gone = true;
	put_off(t);
	give_children(t->proc, t);
	life_settle(t->proc);
	t->clear_tid = 0;
	return true;
}

/* After an exec from a thread the report comes under the main thread's id. */
struct task *life_exec_renamed(pid_t tid)
{
	unsigned long old = 0;
	struct task *t;

	if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &old) < 0)
		return task_find(tid);
	t = task_find((pid_t)old);
	if (!t || (pid_t)old == tid)
		return task_find(tid);
	for (struct task *q = task_list, *next; q; q = next) {
		next = q->next;
		if (q->proc == t->proc && q != t) {
			sched_remove(q);
			life_release_vfork(q);
			put_off(q);
			task_free(q);
		}
	}
	t->tid = tid;
	t->proc->leader_gone = false;
	for (struct process *q = process_list; q; q = q->next)
		if (q->parent == tid)
			q->parent_tid = tid;
	return t;
}
