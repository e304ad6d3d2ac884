/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_create and its family.
 *
 * How it works: as in the kernel, a timer has at most one signal in the queue, and a periodic one
 * rests from there until somebody takes that signal: what fell due meanwhile is the overrun. The
 * signal is queued by the supervisor with the timer's own siginfo. A standard signal that is queued
 * already cannot be queued a second time by us: it is kept back until the first was taken.
 *
 * Passive (engine/clock.h) are timers of CPU clocks, periodic ones that tell nobody (SIGEV_NONE) -
 * who polls them gets to each end - and those whose signal is ignored, until that changes.
 */
#include "supervise/sys/ptimer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/report.h"
#include "supervise/sys/time.h"

enum { COUNT_MAX = 1024 /* RLIMIT_SIGPENDING */ };

struct ptimer {
	struct process *proc;
	int32_t id;
	struct sys_clock clock;
	int notify, signo;
	pid_t tid; /* SIGEV_THREAD_ID */
	union sigval value;
	struct timer timer;
	uint64_t interval_ns;
	int64_t next_ns;    /* periodic and due: when it would come due next */
	bool due;	    /* it came due; a periodic one rests, unless it tells nobody */
	bool queued;	    /* its signal is in the queue, perhaps an earlier setting's */
	bool stale;	    /* ... which was of a setting that is over: not to be delivered */
	bool deleted;	    /* kept only until that signal was taken */
	uint64_t kept_back; /* its signal could not be queued yet: its place among such; else 0 */
	bool unheard;	    /* periodic, and its signal was ignored when it came due last */
	uint64_t ignored, overrun;
	struct ptimer *next;
};

static unsigned count, unheard_count;
static uint64_t kept_back_seq;

static void expire(struct timer *timer);

/* How often the series that goes on at next_ns fell due by now. */
static uint64_t missed(const struct ptimer *p)
{
	int64_t now = (int64_t)clock_monotonic();

	return now < p->next_ns ? 0 : (uint64_t)(now - p->next_ns) / p->interval_ns + 1;
}

/* The first instant of that series that is not here yet. */
static uint64_t next_due(const struct ptimer *p)
{
	return (uint64_t)(p->next_ns + (int64_t)(missed(p) * p->interval_ns));
}

static void arm(struct ptimer *p, uint64_t due_ns, bool passive)
{
	p->due = false;
	if (passive || p->clock.kind == SYS_CLOCK_CPU)
		timer_arm_passive(&p->timer, due_ns, expire, p);
	else
		timer_arm(&p->timer, due_ns, expire, p);
}

/* Whose queue its signal goes to; NULL: nobody is left. */
static const struct task *target_of(const struct ptimer *p)
{
	const struct task *t;

	if (p->notify != SIGEV_THREAD_ID)
		return process_task(p->proc);
	t = task_find(p->tid);
	return t && t->proc == p->proc ? t : NULL;
}

static void queue_signal(struct ptimer *p, const struct task *target)
{
	siginfo_t info = {.si_signo = p->signo, .si_code = SI_TIMER};
	bool to_thread = p->notify == SIGEV_THREAD_ID;
	long r;

	if (p->queued) {
		p->stale = false;
		return;
	}
	if (p->signo == SIGKILL)
		p->proc->killed = true;
	if (p->signo < __SIGRTMIN &&
		(sigmask_queued(target, !to_thread) & 1ull << (p->signo - 1))) {
		p->kept_back = p->kept_back ? p->kept_back : ++kept_back_seq;
		return;
	}
	info.si_timerid = p->id;
	info.si_value = p->value;
	if (to_thread)
		r = syscall(SYS_rt_tgsigqueueinfo, p->proc->pid, p->tid, p->signo, &info);
	else
		r = syscall(SYS_rt_sigqueueinfo, p->proc->pid, p->signo, &info);
	p->queued = r == 0;
	/* RLIMIT_SIGPENDING */
	p->kept_back = r < 0 && errno == EAGAIN ? ++kept_back_seq : 0;
	sched_signals_changed();
}

static void set_unheard(struct ptimer *p, bool unheard)
{
	if (p->unheard != unheard)
		unheard_count += unheard ? 1 : -1u;
	p->unheard = unheard;
}

void ptimer_before_sleep(void)
{
	for (struct process *proc = unheard_count ? process_list : NULL; proc; proc = proc->next)
		for (struct ptimer *p = proc->ptimers; p; p = p->next) {
			const struct task *target = p->unheard ? target_of(p) : NULL;

			if (!target || sigmask_ignores(target, p->signo))
				continue;
			set_unheard(p, false);
			arm(p, p->timer.deadline_ns, false);
		}
}

static void come_due(struct ptimer *p, int64_t due_ns)
{
	const struct task *target = target_of(p);

	p->due = true;
	p->next_ns = due_ns + (int64_t)p->interval_ns;
	if (p->notify == SIGEV_NONE) {
		if (p->interval_ns)
			arm(p, next_due(p), true);
	} else if (target && !sigmask_ignores(target, p->signo)) {
		queue_signal(p, target);
	} else if (target && p->interval_ns) {
		p->ignored += 1 + missed(p);
		arm(p, next_due(p), true);
		set_unheard(p, true);
	}
}

static void expire(struct timer *timer)
{
	struct ptimer *p = timer->owner;

	set_unheard(p, false);
	report_timer_fired(NULL, timer->deadline_ns);
	come_due(p, (int64_t)timer->deadline_ns);
}

static bool go_on(struct ptimer *p, siginfo_t *info)
{
	p->queued = false;
	if (!p->due || !p->interval_ns)
		return false;
	p->overrun = p->ignored + missed(p);
	p->ignored = 0;
	arm(p, next_due(p), false);
	info->si_overrun = p->overrun < INT_MAX ? (int)p->overrun : INT_MAX;
	return true;
}

/* In the order in which they came due. */
static void send_kept_back(struct process *proc)
{
	for (uint64_t done = 0;;) {
		struct ptimer *first = NULL;
		const struct task *target;

		for (struct ptimer *p = proc->ptimers; p; p = p->next)
			if (p->kept_back > done && (!first || p->kept_back < first->kept_back))
				first = p;
		if (!first)
			return;
		done = first->kept_back;
		target = target_of(first);
		if (target)
			queue_signal(first, target);
	}
}

static void ptimer_free(struct ptimer *p)
{
	set_unheard(p, false);
	timer_disarm(&p->timer);
	count -= p->deleted ? 0 : 1;
	free(p);
}

static void unlink_timer(struct ptimer *p)
{
	struct ptimer **at = &p->proc->ptimers;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

static struct ptimer *queued_one(const struct process *proc, const siginfo_t *info)
{
	struct ptimer *p = info->si_code == SI_TIMER ? proc->ptimers : NULL;

	while (p && !(p->queued && p->id == info->si_timerid && p->signo == info->si_signo))
		p = p->next;
	return p;
}

bool ptimer_is_over(struct process *proc, const siginfo_t *info)
{
	struct ptimer *p = queued_one(proc, info);

	if (!p || !p->stale)
		return false;
	p->queued = p->stale = false;
	if (p->deleted) {
		unlink_timer(p);
		ptimer_free(p);
	}
	send_kept_back(proc);
	return true;
}

bool ptimer_taken(struct process *proc, siginfo_t *info)
{
	struct ptimer *p = queued_one(proc, info);
	bool changed = p && go_on(p, info);

	send_kept_back(proc);
	return changed;
}

void ptimer_stop(struct process *proc)
{
	for (struct ptimer *p = proc->ptimers, *next; p; p = next) {
		next = p->next;
		ptimer_free(p);
	}
	proc->ptimers = NULL; /* the numbers go on, over exec too */
}

/* ---- the calls ---- */

/* The thread that a sigevent names is one of the caller's; the signal is one: 0 or -EINVAL. */
static int check_event(const struct task *t, const struct sigevent *e)
{
	const struct task *other;

	switch (e->sigev_notify) {
	case SIGEV_NONE:
		return 0;
	case SIGEV_THREAD_ID:
		other = task_find(e->_sigev_un._tid);
		if (!other || other->proc != t->proc)
			return -EINVAL;
		break;
	case SIGEV_SIGNAL:
	case SIGEV_THREAD:
		break;
	default:
		return -EINVAL;
	}
	return e->sigev_signo > 0 && e->sigev_signo < _NSIG ? 0 : -EINVAL;
}

static int check_clock(struct task *t, int64_t id, struct sys_clock *ret)
{
	int r = sys_time_clock(t, id, ret);

	if (r < 0)
		return r;
	if (id == CLOCK_REALTIME_ALARM || id == CLOCK_BOOTTIME_ALARM)
		return -EPERM;
	if (id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE ||
		id == CLOCK_MONOTONIC_RAW)
		return -EOPNOTSUPP;
	return 0;
}

enum act enter_timer_create(struct task *t, struct call *c)
{
	struct process *proc = t->proc;
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct sys_clock clock;
	struct ptimer *p, **tail = &proc->ptimers;
	int r = check_clock(t, (int32_t)c->arg[0], &clock);

	if (r < 0)
		return call_done(c, r);
	if (count == COUNT_MAX)
		return call_done(c, -EAGAIN);
	if (c->arg[1] && gmem_read(t, c->arg[1], &e, sizeof(e)) < 0)
		return call_done(c, -EFAULT);
	if (!c->arg[1])
		e.sigev_value.sival_int = proc->ptimer_next;
	if (check_event(t, &e) < 0)
		return call_done(c, -EINVAL);
	if (gmem_write(t, c->arg[2], &proc->ptimer_next, sizeof(proc->ptimer_next)) < 0)
		return call_done(c, -EFAULT);
	p = mem_alloc(sizeof(*p));
	p->proc = proc;
	p->id = proc->ptimer_next++;
	p->clock = clock;
	p->notify = e.sigev_notify;
	p->signo = e.sigev_signo;
	p->tid = e.sigev_notify == SIGEV_THREAD_ID ? e._sigev_un._tid : 0;
	p->value = e.sigev_value;
	while (*tail)
		tail = &(*tail)->next;
	*tail = p;
	count++;
	return call_done(c, 0);
}

static struct ptimer *find(const struct task *t, uint64_t id)
{
	for (struct ptimer *p = t->proc->ptimers; p; p = p->next)
		if (p->id == (int32_t)id && !p->deleted)
			return p;
	return NULL;
}

static uint64_t left(struct ptimer *p)
{
	uint64_t now = clock_monotonic();

	if (timer_is_armed(&p->timer))
		return p->timer.deadline_ns > now ? p->timer.deadline_ns - now : 1;
	if (!p->due || !p->interval_ns)
		return 0;
	return next_due(p) - now;
}

static int write_setting(struct task *t, uint64_t addr, uint64_t value_ns, uint64_t interval_ns)
{
	struct itimerspec its = {sys_time_spec(interval_ns), sys_time_spec(value_ns)};

	return gmem_write(t, addr, &its, sizeof(its));
}

enum act enter_timer_gettime(struct task *t, struct call *c)
{
	struct ptimer *p = find(t, c->arg[0]);

	if (!p)
		return call_done(c, -EINVAL);
	sys_time_read(t);
	return call_done(c, write_setting(t, c->arg[1], left(p), p->interval_ns));
}

static void set(struct ptimer *p, uint64_t value_ns, uint64_t interval_ns, bool absolute)
{
	int64_t now = (int64_t)clock_monotonic(), due = (int64_t)value_ns;

	timer_disarm(&p->timer);
	set_unheard(p, false);
	p->due = false;
	p->stale = p->queued;
	p->kept_back = 0;
	p->ignored = p->overrun = 0;
	p->interval_ns = value_ns ? interval_ns : 0;
	if (!value_ns)
		return;
	if (!absolute)
		due += now;
	else if (p->clock.kind == SYS_CLOCK_REALTIME)
		due = clock_before_start(value_ns);
	else if (p->clock.kind == SYS_CLOCK_CPU)
		due += (int64_t)p->clock.start_ns;
	if (due > now) {
		arm(p, (uint64_t)due, false);
		report_timer_armed(NULL, p->timer.deadline_ns);
	} else
		come_due(p, due);
}

enum act enter_timer_settime(struct task *t, struct call *c)
{
	struct itimerspec its;
	uint64_t value, interval, was, was_interval;
	struct ptimer *p;

	if (!c->arg[2])
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[2], &its, sizeof(its)) < 0)
		return call_done(c, -EFAULT);
	if (sys_time_from_spec(&its.it_value, &value) < 0 ||
		sys_time_from_spec(&its.it_interval, &interval) < 0)
		return call_done(c, -EINVAL);
	p = find(t, c->arg[0]);
	if (!p)
		return call_done(c, -EINVAL);
	was = left(p);
	was_interval = p->interval_ns;
	set(p, value, interval, c->arg[1] & TIMER_ABSTIME);
	return call_done(c, c->arg[3] ? write_setting(t, c->arg[3], was, was_interval) : 0);
}

enum act enter_timer_getoverrun(struct task *t, struct call *c)
{
	const struct ptimer *p = find(t, c->arg[0]);

	if (!p)
		return call_done(c, -EINVAL);
	return call_done(c, p->overrun < INT_MAX ? (int64_t)p->overrun : INT_MAX);
}

enum act enter_timer_delete(struct task *t, struct call *c)
{
	struct ptimer *p = find(t, c->arg[0]);

	if (!p)
		return call_done(c, -EINVAL);
	/* As kernels from 6.13 on: what is in the queue is dropped when its turn comes. */
	if (p->queued) {
		timer_disarm(&p->timer);
		set_unheard(p, false);
		p->stale = p->deleted = true;
		p->due = false;
		p->kept_back = 0;
		count--;
		return call_done(c, 0);
	}
	unlink_timer(p);
	ptimer_free(p);
	return call_done(c, 0);
}
