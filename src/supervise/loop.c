/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop.
 *
 * How it works: exactly one guest task runs; all others stand at a ptrace stop. The loop resumes it,
 * waits for a report of any task, and acts on it. Reports of other tasks come only from what the
 * running one caused (a child's first stop, deaths by exit_group, SIGKILL or exec); deaths of a whole
 * process are collected to the end before anybody else runs, since their order is the host's.
 *
 * A timer of the host (SIGALRM) interrupts the wait now and then: a task that sleeps in the kernel for
 * three ticks stands in a call that nobody modelled. It is reported and the others go on.
 */
#include "supervise/loop.h"

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
#include "supervise/exec.h"
#include "supervise/fdkind.h"
#include "supervise/futex.h"
#include "supervise/handlers.h"
#include "supervise/host.h"
#include "supervise/io.h"
#include "supervise/report.h"
#include "supervise/sched.h"
#include "supervise/signals.h"
#include "wire/sysnr.h"

#define STATUS_EVENT(status) ((unsigned)(status) >> 16)

enum { BLOCK_TICKS = 3, STASH = 64 };

static struct process *first;
static struct task *current;
static bool ending, first_gone;
static int first_status, block_ticks;
static bool current_runs; /* resumed and no report yet */
static uint64_t exit_seq;

/* Reports that were read before their time: of children whose creation is not known yet. */
static struct {
	pid_t tid;
	int status;
} stash[STASH];
static int stash_len;

bool loop_is_ending(void)
{
	return ending || first_gone;
}

void loop_end(void)
{
	ending = true;
}

/* ---- resuming ---- */

static void resume(struct task *t)
{
	int sig = t->signal;

	t->signal = 0;
	t->state = TASK_RUNNING;
	block_ticks = 0;
	current_runs = true;
	if (ptrace(t->leaving ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, 0, sig) < 0 && errno != ESRCH)
		abort();
}

void call_set_arg(struct task *t, int i, uint64_t value)
{
	if (!t->changed)
		t->kernel_regs = t->regs;
	t->changed = true;
	arch_call_set_arg(&t->kernel_regs, i, value);
}

void call_set_nr(struct task *t, int nr)
{
	if (!t->changed)
		t->kernel_regs = t->regs;
	t->changed = true;
	if (arch_call_set_nr(t->tid, &t->kernel_regs, nr) < 0 && errno != ESRCH)
		abort();
}

/* The kernel shall do the call. After an injection that means from the start. */
static void go_native(struct task *t, bool leave)
{
	if (t->at_exit) {
		struct regs regs = t->regs;

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
	struct regs regs = t->regs;
	int r;

	if (t->at_exit) {
		arch_result_set(&regs, t->call.result);
		r = arch_regs_write(t->tid, &regs);
		t->at_exit = false;
	} else
		r = arch_call_skip(t->tid, &regs, t->call.result);
	t->changed = false;
	if (r < 0 && errno != ESRCH)
		abort();
}

void loop_complete(struct task *t, enum act act)
{
	bool was_parked = t->state == TASK_PARKED;
	bool reissued = t->at_exit && (act == ACT_NATIVE || act == ACT_LEAVE);

	if (act == ACT_PARK) {
		t->state = TASK_PARKED;
		return;
	}
	timer_disarm(&t->park_timer);
	if (was_parked && act != ACT_DONE && t->park.has_mask)
		t->park.interrupted = true; /* should the kernel start it again, its deadline stays */
	else
		t->park = (struct park){0};
	if (act == ACT_DONE)
		answer(t);
	else
		go_native(t, act == ACT_LEAVE);
	if (!t->leaving && !reissued && t->mm->vdso) /* not the supervisor's own child before exec */
		report_decision(DECISION_CALL, t, t->call.nr, t->call.arg,
			act == ACT_DONE ? t->call.result : 0);
	if (was_parked) {
		sched_busy();
		sched_enqueue(t);
	}
}

void loop_reissue(struct task *t)
{
	struct regs regs = t->regs;

	if (arch_call_reissue(t->tid, &regs, &t->call, t->restart) < 0 && errno != ESRCH)
		abort();
	t->at_exit = false;
	t->reissued = true;
	t->reissue_ip = arch_ip(&regs);
	t->park.interrupted = true;
	sched_enqueue(t);
}

/* ---- calls ---- */

static enum act unknown_call(struct task *t)
{
	report_not_enforced(REASON_UNKNOWN_SYSCALL, "system call %d is unknown to this version",
		t->call.nr);
	return call_done(&t->call, -ENOSYS);
}

static void on_call(struct task *t)
{
	enum act act;

	report_counts.stops++;
	if (arch_regs_read(t->tid, &t->regs) < 0)
		return;
	arch_call_get(&t->regs, &t->call);
	t->row = call_row(t->call.nr);
	t->changed = false;
	t->at_exit = false;
	t->reissued = false;
	t->proc->execing = false; /* one that failed */
	t->restart = ERESTART_SYS;
	if (!t->park.interrupted)
		t->park = (struct park){0};
	t->park.interrupted = false;
	t->was_idle = false;
	act = t->row ? t->row->enter(t, &t->call) : unknown_call(t);
	if (!t->was_idle)
		sched_busy();
	loop_complete(t, act);
	host_delay();
}

static void on_leave(struct task *t)
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
		/* Keep what the kernel needs for its own restart handling: only arguments go back. */
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

/* ---- births ---- */

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

static int wait_tid(pid_t tid, int *ret_status)
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

static void on_birth(struct task *t, unsigned event)
{
	unsigned long tid = 0;
	uint64_t flags = event == PTRACE_EVENT_FORK ? 0 : CLONE_VM | CLONE_VFORK;
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
		mm = mm_copy(mm, (pid_t)tid);
	if (flags & CLONE_THREAD)
		proc = t->proc;
	else {
		proc = process_new((pid_t)tid, flags & CLONE_PARENT ? t->proc->parent : t->proc->pid);
		proc->tight = t->proc->tight;
		proc->own_filter = t->proc->own_filter;
	}
	child = task_new((pid_t)tid, proc, mm);
	if (flags & CLONE_CHILD_CLEARTID)
		child->clear_tid = arch_clone_child_tid(&t->call);
	args[0] = child->ordinal;
	args[1] = flags;
	args[2] = 0;
	report_decision(DECISION_CREATE, t, 0, args, 0);
	child->state = TASK_LEFT; /* until its first stop is seen */
	if (wait_tid(child->tid, &status) < 0 || !WIFSTOPPED(status))
		loop_report(child->tid, status);
	else
		sched_enqueue(child);
	if (flags & CLONE_VFORK) {
		t->state = TASK_VFORK;
		t->vfork_child = child;
	}
	sched_busy();
}

/* Whoever waited in vfork for this child goes on. */
static void release_vfork(struct task *child)
{
	for (struct task *t = task_list; t; t = t->next)
		if (t->state == TASK_VFORK && t->vfork_child == child) {
			t->vfork_child = NULL;
			sched_enqueue(t);
		}
}

/* ---- deaths ---- */

/* Who adopts the children of a dead process: its nearest living ancestor that said so, else init. */
static pid_t new_parent(const struct process *dead)
{
	const struct process *p = process_find(dead->parent);

	while (p && (p->zombie || !p->subreaper))
		p = process_find(p->parent);
	return p ? p->pid : 1;
}

static void process_gone(struct process *p, int status)
{
	uint64_t args[3] = {p->ordinal, 0, 0};

	report_decision(DECISION_EXIT, NULL, status, args, 0);
	timer_disarm(&p->real_timer);
	p->dying = false;
	p->zombie = true;
	p->exit_status = status;
	p->exit_seq = ++exit_seq;
	for (struct process *q = process_list, *next; q; q = next) {
		next = q->next;
		if (q->parent == p->pid) {
			q->parent = new_parent(p);
			if (q->zombie && q->parent == 1)
				process_free(q);
		}
	}
	if (p == first) {
		first_gone = true;
		first_status = status;
	}
	sched_children_changed();
	sched_signals_changed(); /* SIGCHLD */
	if (p->parent == 1 && p != first)
		process_free(p);
}

static void task_gone(struct task *t, int status)
{
	struct process *p = t->proc;
	struct mm *mm = t->mm;
	uint64_t clear_tid = t->clear_tid;
	bool leader = t->tid == p->pid;

	if (!t->exiting && !p->execing)
		p->dying = true; /* exit_group, or a fatal signal: the others follow */
	sched_remove(t);
	release_vfork(t);
	if (t == current)
		current = NULL;
	mm->refs++;
	task_free(t);
	if (clear_tid)
		futex_wake_address(mm, clear_tid, 1);
	futex_owner_died();
	mm_unref(mm);
	sched_busy();
	if (leader && p->tasks == 0)
		process_gone(p, status);
}

/* A main thread that exits before its group: no report comes until the group is gone. */
static bool leader_left(struct task *t)
{
	if (!t->exiting || t->tid != t->proc->pid || t->proc->tasks == 1)
		return false;
	while (host_task_state(t->tid) != 'Z' && host_task_state(t->tid) != 'X')
		usleep(50);
	t->state = TASK_LEFT;
	if (t->clear_tid)
		futex_wake_address(t->mm, t->clear_tid, 1);
	t->clear_tid = 0;
	return true;
}

/* ---- reports ---- */

static void on_stop(struct task *t, int status)
{
	int sig = WSTOPSIG(status);
	unsigned event = STATUS_EVENT(status);

	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		on_call(t);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_birth(t, event);
		return;
	case PTRACE_EVENT_EXEC:
		release_vfork(t);
		exec_done(t);
		return;
	case PTRACE_EVENT_STOP:
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			signals_group_stop(t);
		return;
	default:
		break;
	}
	if (sig == (SIGTRAP | 0x80))
		on_leave(t);
	else
		signals_deliver(t, sig);
}

/* After an exec from a thread the report comes under the main thread's id. */
static struct task *exec_rename(pid_t tid, int status)
{
	unsigned long old = 0;
	struct task *t;

	if (STATUS_EVENT(status) != PTRACE_EVENT_EXEC || ptrace(PTRACE_GETEVENTMSG, tid, 0, &old) < 0)
		return task_find(tid);
	t = task_find((pid_t)old);
	if (!t || (pid_t)old == tid)
		return task_find(tid);
	for (struct task *q = task_list, *next; q; q = next) {
		next = q->next;
		if (q->proc == t->proc && q != t) {
			sched_remove(q);
			task_free(q);
		}
	}
	t->tid = tid;
	return t;
}

void loop_report(pid_t tid, int status)
{
	struct task *t = exec_rename(tid, status);

	if (!t) {
		if (WIFSTOPPED(status) && stash_len < STASH) {
			stash[stash_len].tid = tid;
			stash[stash_len++].status = status;
		}
		return;
	}
	if (t == current)
		current_runs = false;
	if (!WIFSTOPPED(status)) {
		task_gone(t, status);
		return;
	}
	if (t->state == TASK_NATIVE || t->state == TASK_STOPPED || t->state == TASK_LEFT) {
		t->state = TASK_RUNNING;
		on_stop(t, status);
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
		if (wait_tid(t->tid, &status) < 0)
			return -1;
		if (!WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		/* The filter traces the injected call too. */
		if (STATUS_EVENT(status) != PTRACE_EVENT_SECCOMP ||
			ptrace(PTRACE_SYSCALL, t->tid, 0, 0) < 0)
			break;
	}
	if (stash_len == STASH)
		abort();
	stash[stash_len].tid = t->tid; /* its death: told when the loop waits for it next */
	stash[stash_len++].status = status;
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

static bool writes_own_output(struct task *t)
{
	auto_gfd struct gfd g = GFD_NONE;
	uint64_t fd;
	int nr = host_blocked_nr(t->tid, &fd);
	bool writes = nr == NR_write || nr == NR_writev || nr == NR_sendfile;

	return writes && gfd_open(t, (int)fd, &g) == 0 && io_is_own_output(&g);
}

static void tick(void)
{
	struct task *t = current;

	if (!t || t->state != TASK_RUNNING)
		return;
	/* A full 1 or 2 waits for the host's reader, however slow: no time passes inside meanwhile. */
	if (host_task_state(t->tid) != 'S' || writes_own_output(t)) {
		block_ticks = 0;
		return;
	}
	if (++block_ticks < BLOCK_TICKS || io_waits_for_host(t))
		return;
	report_not_enforced(REASON_NATIVE_BLOCK, "%s blocked in the kernel and is not modelled",
		host_blocked_call(t->tid));
	t->state = TASK_NATIVE;
	current = NULL;
}

void loop_host_signals(void)
{
	int sig;

	if (host_take_alarm()) {
		report_flush();
		tick();
	}
	if (!host_take_message())
		return;
	while ((sig = report_poll_signal()) != 0) {
		report_not_enforced(REASON_SIGNAL_FROM_OUTSIDE, "signal %d came from outside", sig);
		if (first && !first->zombie && kill(first->pid, sig) == 0)
			sched_signals_changed();
	}
}

/* One report, or one interruption by the host. Stashed deaths of known tasks come first. */
static void wait_report(void)
{
	pid_t tid;
	int status;

	for (int i = 0; i < stash_len; i++)
		if (task_find(stash[i].tid)) {
			tid = stash[i].tid;
			status = stash[i].status;
			stash[i] = stash[--stash_len];
			loop_report(tid, status);
			return;
		}
	tid = waitpid(-1, &status, __WALL);
	if (tid > 0)
		loop_report(tid, status);
	else if (errno == EINTR)
		loop_host_signals();
	else
		ending = true; /* ECHILD: nothing is left */
}

void loop_wait_any(void)
{
	report_flush();
	wait_report();
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
	p->dying = true;
	drain_dying();
	return 0;
}

static void run_current(void)
{
	while (current && !loop_is_ending()) {
		struct task *t = current;

		if (t->state == TASK_RUNNING || t->state == TASK_RUNNABLE) {
			bool leaves = t->exiting;

			resume(t);
			if (leaves && leader_left(t)) {
				current = NULL;
				return;
			}
		}
		do
			wait_report();
		while (current == t && current_runs);
		drain_dying();
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
	for (;;) {
		drain_dying();
		current = sched_next();
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
	return first_gone ? first_status : -1;
}

void loop_init(void)
{
	host_init();
}
