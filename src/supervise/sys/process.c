/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: exec, exit, wait and signals between guests. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/loop.h"
#include "supervise/engine/mapped.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/signals.h"
#include "supervise/sys/time.h"
#include "supervise/sys/usage.h"
#include "wire/sysnr.h"

enum act enter_exit(struct task *t, struct call *c)
{
	(void)c;
	t->exiting = t->proc->tasks > 1;
	if (!t->exiting)
		t->proc->dying = true;
	return ACT_NATIVE;
}

enum act enter_exit_group(struct task *t, struct call *c)
{
	(void)c;
	sys_time_count_rest(t);
	if (t->mm->vdso) /* not the supervisor's own child, whose exec failed */
		mapped_tell(t);
	t->proc->dying = true;
	return ACT_NATIVE;
}

enum act enter_execve(struct task *t, struct call *c)
{
	(void)c;
	if (t->mm->vdso) /* not the supervisor's own child before its first exec */
		mapped_tell(t);
	t->proc->execing = true; /* until the exec event, or its next call if it failed */
	return ACT_NATIVE;
}

/* CLOSE_RANGE_UNSHARE alone comes here. */
enum act enter_close_range(struct task *t, struct call *c)
{
	(void)c;
	if (t->proc->tasks > 1)
		t->own_files = true;
	return ACT_NATIVE;
}

enum act enter_set_tid_address(struct task *t, struct call *c)
{
	t->clear_tid = c->arg[0];
	return ACT_NATIVE;
}

/* ---- wait ---- */

enum child_state { CHILD_NONE, CHILD_ALIVE, CHILD_READY };
enum { WAIT_ANY_KIND = __WNOTHREAD | __WCLONE | (int)__WALL };

static bool is_selected(const struct process *p, const struct task *t, int type, int64_t id)
{
	switch (type) {
	case P_ALL:
		return true;
	case P_PID:
		return p->pid == (pid_t)id;
	case P_PGID:
		return getpgid(p->pid) == (id ? (pid_t)id : getpgid(t->proc->pid));
	default:
		return false;
	}
}

/* A child of whom a wait with these options may hear at all: wait(2) under __WCLONE. */
static bool is_eligible(const struct process *p, const struct task *t, int options)
{
	if (p->parent != t->proc->pid || ((options & __WNOTHREAD) && p->parent_tid != t->tid))
		return false;
	return (options & __WALL) || (p->exit_signal != SIGCHLD) == !!(options & __WCLONE);
}

/* What a wait of t would find in the process table; *ret_zombie is the dead child, if that is it.
 */
static enum child_state look(
	const struct task *t, int type, int64_t id, int options, struct process **ret_zombie)
{
	enum child_state found = CHILD_NONE;

	*ret_zombie = NULL;
	for (struct process *p = process_list, *next; p; p = next) {
		next = p->next;
		if (!is_eligible(p, t, options) || !is_selected(p, t, type, id))
			continue;
		if (p->zombie && kill(p->pid, 0) < 0 && errno == ESRCH) {
			/* Its parent may ignore SIGCHLD: then the kernel buried it itself. */
			process_free(p);
		} else if (p->zombie && (options & WEXITED)) {
			*ret_zombie = p;
			return CHILD_READY;
		} else {
			found = CHILD_ALIVE;
			if (((options & WUNTRACED) && p->stop_untold) ||
				((options & WCONTINUED) && p->continued_untold))
				return CHILD_READY;
		}
	}
	return found;
}

static enum act wait_for(struct task *t, struct call *c, int type, int64_t id, int options)
{
	struct process *zombie;

	switch (look(t, type, id, options, &zombie)) {
	case CHILD_ALIVE:
		if (!(options & WNOHANG))
			return park_on(t, PARK_CHILD);
		sched_idle(t, SCHED_IDLE_CALL);
		return ACT_NATIVE;
	case CHILD_READY:
		/* The common case needs no second stop: the kernel will bury exactly this one. */
		if (zombie && c->nr == NR_wait4 && type == P_PID && !c->arg[3]) {
			usage_collect(t->proc, zombie);
			process_free(zombie);
			return ACT_NATIVE;
		}
		return ACT_LEAVE;
	case CHILD_NONE:
	default:
		return ACT_NATIVE;
	}
}

enum act enter_wait4(struct task *t, struct call *c)
{
	int32_t pid = (int32_t)c->arg[0];
	int options = (int)c->arg[2] | WEXITED;

	if ((int)c->arg[2] & ~(WNOHANG | WUNTRACED | WCONTINUED | WAIT_ANY_KIND))
		return ACT_NATIVE; /* EINVAL */
	if (pid == INT32_MIN)
		return ACT_NATIVE; /* ESRCH */
	if (pid == -1)
		return wait_for(t, c, P_ALL, 0, options);
	if (pid > 0)
		return wait_for(t, c, P_PID, pid, options);
	return wait_for(t, c, P_PGID, -(int64_t)pid, options);
}

/* The process behind a pidfd; 0: there is none, and the kernel says so at once. */
static pid_t pid_behind(struct task *t, int number, bool *ret_nonblock)
{
	auto_gfd struct gfd g = GFD_NONE;
	uint64_t pid = 0;

	if (gfd_open(t, number, &g) < 0 || !gfd_info(&g, "Pid", 10, &pid))
		return 0;
	*ret_nonblock = gfd_is_nonblock(&g);
	return (pid_t)pid;
}

enum act enter_waitid(struct task *t, struct call *c)
{
	int type = (int)c->arg[0];
	int64_t id = (int32_t)c->arg[1];
	int options = (int)c->arg[3];
	bool nonblock = false;

	if (!(options & (WEXITED | WSTOPPED | WCONTINUED)) ||
		(options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | WAIT_ANY_KIND)))
		return ACT_NATIVE; /* EINVAL */
	if (type == P_PIDFD) {
		id = pid_behind(t, (int)id, &nonblock);
		type = P_PID;
	} else if (type != P_ALL && type != P_PID && type != P_PGID) {
		return ACT_LEAVE; /* EINVAL */
	}
	if (nonblock || (type == P_PID && id <= 0))
		return ACT_LEAVE;
	return wait_for(t, c, type, id, options);
}

static void collected(struct task *t, struct process *p)
{
	if (!p->zombie || kill(p->pid, 0) == 0 || errno != ESRCH)
		return;
	usage_collect(t->proc, p);
	process_free(p);
}

/* A stop or going on is told once; when both are there, the stop comes first. */
static void told(pid_t pid, int options)
{
	struct process *p = process_find(pid);

	if (!p || p->zombie || (options & WNOWAIT))
		return;
	if (p->stop_untold && (options & WUNTRACED))
		p->stop_untold = false;
	else if (options & WCONTINUED)
		p->continued_untold = false;
}

/* Whom a wait told of, 0: nobody. A waitid without a siginfo keeps it to itself. */
static pid_t waited_for(struct task *t, const struct call *c)
{
	siginfo_t info;

	if (c->nr != NR_waitid)
		return (pid_t)c->result;
	return c->arg[2] && gmem_read(t, c->arg[2], &info, sizeof(info)) == 0 ? info.si_pid : 0;
}

/* Shared by wait4 and waitid: forgets the child and tells its logical resource figures. */
void leave_wait4(struct task *t, struct call *c)
{
	bool is_waitid = c->nr == NR_waitid;
	uint64_t addr = is_waitid ? c->arg[4] : c->arg[3];
	struct rusage usage = {0};
	const struct process *child;
	pid_t pid;

	if (c->result < 0)
		return;
	pid = waited_for(t, c);
	child = pid ? process_find(pid) : NULL;
	if (child)
		usage = usage_of(usage_cpu_ns(child) + child->children_ns);
	told(pid, (int)c->arg[is_waitid ? 3 : 2]);
	for (struct process *p = process_list, *next; p; p = next) {
		next = p->next;
		if (p->parent == t->proc->pid && (is_waitid || p == child))
			collected(t, p);
	}
	if (addr && (is_waitid || c->result > 0) && gmem_write(t, addr, &usage, sizeof(usage)) < 0)
		c->result = -EFAULT;
}

/* ---- signals ---- */

/* One after the other in order of creation, the sender last: at once they would die in the host's
 * order. */
static enum act kill_group(struct task *t, struct call *c, pid_t pid)
{
	pid_t group = getpgid(t->proc->pid);
	bool any = false;

	for (struct process *p = process_list, *next; p; p = next) {
		next = p->next;
		if (p == t->proc || p->zombie || !signals_is_target(p, pid, group))
			continue;
		if (loop_kill_process(p) < 0)
			continue;
		any = true;
		next = process_list; /* deaths may have freed others: from the start */
	}
	if (signals_is_target(t->proc, pid, group)) {
		t->proc->killed = true;
		return ACT_NATIVE;
	}
	return any ? call_done(c, 0) : ACT_NATIVE;
}

/* kill, tkill, tgkill: SIGKILL is done here, so that its victim is gone when the call returns. */
enum act enter_kill(struct task *t, struct call *c)
{
	int sig = (int)(c->nr == NR_tgkill ? c->arg[2] : c->arg[1]);
	int32_t pid = (int32_t)c->arg[0];
	struct task *target;

	/* Init ignores what guests send: our handlers are for the host. */
	if (pid == 1 && sig && (c->nr != NR_tgkill || c->arg[1] == 1))
		return call_done(c, 0);
	sched_signals_changed();
	if (sig == SIGSTOP || sig == SIGCONT)
		sched_children_changed();
	if (sig == SIGCONT)
		return ACT_LEAVE;
	if (sig != SIGKILL)
		return ACT_NATIVE;
	if (c->nr == NR_kill && pid <= 0)
		return kill_group(t, c, pid);
	target = task_find(c->nr == NR_tgkill ? (pid_t)c->arg[1] : pid);
	if (target && target->proc == t->proc)
		t->proc->killed = true;
	if (!target || target->proc == t->proc)
		return ACT_NATIVE;
	return loop_kill_process(target->proc) < 0 ? ACT_NATIVE : call_done(c, 0);
}

/* SIGCONT was sent. */
void leave_kill(struct task *t, struct call *c)
{
	if (c->result == 0)
		signals_continued(t, (pid_t)c->arg[0]);
}

/* A call that brings a siginfo along: which process, which signal, where the siginfo is. */
static pid_t queue_target(struct task *t, const struct call *c, int *ret_sig, uint64_t *ret_info)
{
	bool nonblock;
	bool thread = c->nr == NR_rt_tgsigqueueinfo;

	*ret_sig = (int)c->arg[thread ? 2 : 1];
	*ret_info = c->arg[thread ? 3 : 2];
	return c->nr == NR_pidfd_send_signal ? pid_behind(t, (int)c->arg[0], &nonblock)
					     : (pid_t)c->arg[0];
}

/* The kernel would take this siginfo (none: only pidfd_send_signal can do without). */
static bool is_queueable(struct task *t, const struct call *c, int sig, uint64_t addr)
{
	siginfo_t info;

	if (c->nr == NR_pidfd_send_signal && c->arg[3])
		return false;
	if (!addr)
		return c->nr == NR_pidfd_send_signal;
	if (gmem_read(t, addr, &info, sizeof(info)) < 0 || info.si_code >= 0 ||
		info.si_code == SI_TKILL)
		return false;
	return c->nr != NR_pidfd_send_signal || info.si_signo == sig;
}

/* rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal: as kill. */
enum act enter_queue_signal(struct task *t, struct call *c)
{
	uint64_t info;
	int sig;
	pid_t pid = queue_target(t, c, &sig, &info);
	struct process *target = process_find(pid);

	if (pid == 1 && sig)
		return is_queueable(t, c, sig, info) ? call_done(c, 0) : ACT_NATIVE;
	sched_signals_changed();
	if (sig == SIGSTOP || sig == SIGCONT)
		sched_children_changed();
	if (sig == SIGCONT)
		return ACT_LEAVE;
	if (sig == SIGKILL && target == t->proc)
		t->proc->killed = true;
	if (sig != SIGKILL || !target || target == t->proc || target->zombie ||
		!is_queueable(t, c, sig, info))
		return ACT_NATIVE;
	return loop_kill_process(target) < 0 ? ACT_NATIVE : call_done(c, 0);
}

void leave_queue_signal(struct task *t, struct call *c)
{
	uint64_t info;
	int sig;
	pid_t pid = queue_target(t, c, &sig, &info);

	if (c->result == 0 && pid > 0)
		signals_continued(t, pid);
}
