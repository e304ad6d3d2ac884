/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's picture of the guest: see task.h. */
#include "supervise/engine/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervise/engine/fdwait.h"
#include "supervise/engine/futex.h"
#include "supervise/hidden/hidden.h"
#include "supervise/report.h"
#include "supervise/sys/itimer.h"
#include "supervise/sys/ptimer.h"
#include "supervise/spin/spin.h"

struct task *task_list;
struct process *process_list;
struct mm *mm_list;

static uint32_t task_ordinal, process_ordinal;
static uint64_t mm_ordinal;

struct task *task_find(pid_t tid)
{
	for (struct task *t = task_list; t; t = t->next)
		if (t->tid == tid)
			return t;
	return NULL;
}

struct process *process_find(pid_t pid)
{
	for (struct process *p = process_list; p; p = p->next)
		if (p->pid == pid)
			return p;
	return NULL;
}

struct task *process_task(const struct process *p)
{
	struct task *t = task_list;

	while (t && (t->proc != p || t->state == TASK_LEFT))
		t = t->next;
	return t;
}

struct task *task_new(pid_t tid, struct process *proc, struct mm *mm)
{
	struct task *t = mem_alloc(sizeof(*t)), **tail = &task_list;

	t->tid = tid;
	t->ordinal = ++task_ordinal;
	t->proc = proc;
	t->mm = mm;
	t->start_ns = clock_monotonic();
	t->park_timer.owner = t;
	proc->tasks++;
	while (*tail)
		tail = &(*tail)->next;
	*tail = t;
	report_counts.tasks++;
	return t;
}

struct process *process_new(pid_t pid, pid_t parent)
{
	struct process *p = mem_alloc(sizeof(*p)), **tail = &process_list;

	p->pid = pid;
	p->ordinal = ++process_ordinal;
	p->parent = parent;
	p->parent_tid = parent;
	p->exit_signal = SIGCHLD;
	p->pidfd = -1;
	p->start_ns = clock_monotonic();
	while (*tail)
		tail = &(*tail)->next;
	*tail = p;
	report_counts.processes++;
	return p;
}

struct mm *mm_new(void)
{
	struct mm *mm = mem_alloc(sizeof(*mm)), **tail = &mm_list;

	mm->refs = 1;
	mm->mem_fd = -1;
	mm->ordinal = ++mm_ordinal;
	while (*tail)
		tail = &(*tail)->next;
	*tail = mm;
	return mm;
}

struct mm *mm_copy(const struct mm *mm)
{
	struct mm *copy = mm_new();

	copy->vdso = mm->vdso;
	copy->patched = mm->patched;
	copy->ready = mm->ready;
	copy->window = mm->window;
	copy->undumpable = mm->undumpable;
	copy->hidden = hidden_copy(mm->hidden);
	return copy;
}

void mm_unref(struct mm *mm)
{
	if (--mm->refs > 0)
		return;
	for (struct mm **p = &mm_list; *p; p = &(*p)->next)
		if (*p == mm) {
			*p = mm->next;
			break;
		}
	if (mm->mem_fd >= 0)
		close(mm->mem_fd);
	hidden_free(mm->hidden);
	free(mm);
}

void task_free(struct task *t)
{
	spin_forget(t);
	for (struct task **p = &task_list; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	timer_disarm(&t->park_timer);
	fdwait_forget(t);
	futex_cancel(t);
	free(t->futex_waiters);
	t->proc->tasks--;
	mm_unref(t->mm);
	free(t);
}

void process_free(struct process *p)
{
	for (struct process **q = &process_list; *q; q = &(*q)->next)
		if (*q == p) {
			*q = p->next;
			break;
		}
	itimer_stop(p);
	ptimer_stop(p);
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}

int process_pidfd(struct process *p)
{
	if (p->pidfd < 0)
		p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	return p->pidfd;
}

/* A main thread that left has no descriptors any more; the others have. Since Linux 6.9. */
static int dup_from_thread(const struct task *t, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, t->tid, O_EXCL); /* PIDFD_THREAD */
	int saved, r;

	if (pidfd < 0)
		return -1;
	r = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	saved = errno;
	close(pidfd);
	errno = saved;
	return r;
}

int task_dup_fd(struct task *t, int fd)
{
	int pidfd = t->own_files ? -1 : process_pidfd(t->proc), r;

	if (t->own_files) {
		r = dup_from_thread(t, fd);
		if (r < 0 && errno == EINVAL) /* before Linux 6.9 */
			report_not_enforced(REASON_UNMODELLED,
				"a thread has descriptors of its own, which this kernel hides");
		return r;
	}
	if (pidfd < 0)
		return -1;
	r = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (r < 0 && t->tid != t->proc->pid)
		r = dup_from_thread(t, fd);
	/* Not what the guest would see: whoever asks takes the call for one that cannot block. */
	if (r < 0 && errno != EBADF && errno != ESRCH)
		report_not_enforced(
			REASON_UNMODELLED, "a descriptor cannot be looked at: %s", strerror(errno));
	return r;
}
