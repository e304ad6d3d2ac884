/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setitimer and alarm: three timers a process, which fork does not inherit and exec keeps.
 *
 * ITIMER_REAL rests, as in the kernel, from its SIGALRM until somebody takes that from the queue: a
 * short interval whose signal is blocked moves the clock once. ITIMER_VIRTUAL and ITIMER_PROF count
 * CPU time, which is logical time since the process began, so both come due when the clock passes
 * them; but a world that sleeps is not woken by them, and what fell due in one leap of the clock is
 * one signal.
 */
#include "supervise/sys/itimer.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sigmask.h"
#include "supervise/engine/signals.h"
#include "supervise/report.h"
#include "supervise/sys/time.h"

#define NS_PER_S 1000000000ull

static const int timer_signal[] = {
	[ITIMER_REAL] = SIGALRM, [ITIMER_VIRTUAL] = SIGVTALRM, [ITIMER_PROF] = SIGPROF};

_Static_assert(ARRAY_LEN(timer_signal) == ITIMERS, "a signal for each");

static void cpu_fire(struct timer *timer);

/* The first instant of the series deadline + n * interval that is not here yet. */
static uint64_t next_after_now(const struct itimer *it)
{
	uint64_t late = clock_monotonic() - it->timer.deadline_ns;

	return it->timer.deadline_ns + (late / it->interval_ns + 1) * it->interval_ns;
}

static void real_fire(struct timer *timer)
{
	struct process *p = timer->owner;
	struct itimer *it = &p->itimers[ITIMER_REAL];
	const struct task *t = process_task(p);

	report_timer_fired(NULL, timer->deadline_ns);
	/* One that is ignored is never taken: such a timer rests for good. */
	if (it->interval_ns && t && sigmask_ignores(t, SIGALRM))
		return;
	it->rests = it->interval_ns != 0;
	signals_send_timer(p, SIGALRM);
}

static void cpu_fire(struct timer *timer)
{
	struct process *p = timer->owner;
	int which = timer == &p->itimers[ITIMER_PROF].timer ? ITIMER_PROF : ITIMER_VIRTUAL;
	struct itimer *it = &p->itimers[which];

	report_timer_fired(NULL, timer->deadline_ns);
	if (it->interval_ns)
		timer_arm_passive(timer, next_after_now(it), cpu_fire, p);
	signals_send_timer(p, timer_signal[which]);
}

void itimer_taken(struct process *p)
{
	struct itimer *it = &p->itimers[ITIMER_REAL];

	if (!it->rests)
		return;
	it->rests = false;
	timer_arm(&it->timer, next_after_now(it), real_fire, p);
}

void itimer_stop(struct process *p)
{
	for (int which = 0; which < ITIMERS; which++)
		timer_disarm(&p->itimers[which].timer);
}

static uint64_t left(const struct itimer *it)
{
	uint64_t now = clock_monotonic();

	if (!timer_is_armed(&it->timer))
		return 0;
	return it->timer.deadline_ns > now ? it->timer.deadline_ns - now : 1000;
}

static void set(struct process *p, int which, uint64_t value_ns, uint64_t interval_ns)
{
	struct itimer *it = &p->itimers[which];
	uint64_t now = clock_monotonic();
	uint64_t due = value_ns > UINT64_MAX - now ? UINT64_MAX : now + value_ns;

	timer_disarm(&it->timer);
	it->rests = false;
	it->interval_ns = value_ns ? interval_ns : 0;
	if (!value_ns)
		return;
	if (which == ITIMER_REAL)
		timer_arm(&it->timer, due, real_fire, p);
	else
		timer_arm_passive(&it->timer, due, cpu_fire, p);
	report_timer_armed(NULL, it->timer.deadline_ns);
}

enum act enter_alarm(struct task *t, struct call *c)
{
	uint64_t was = left(&t->proc->itimers[ITIMER_REAL]);

	set(t->proc, ITIMER_REAL, (uint64_t)(uint32_t)c->arg[0] * NS_PER_S, 0);
	/* Rounded as the kernel does: up when half a second or more, and never 0 while one is
	 * armed. */
	c->result = (int64_t)((was + NS_PER_S / 2) / NS_PER_S);
	if (was && !c->result)
		c->result = 1;
	return ACT_DONE;
}

static int write_setting(struct task *t, uint64_t addr, uint64_t value_ns, uint64_t interval_ns)
{
	struct itimerval it = {
		{(time_t)(interval_ns / NS_PER_S), (suseconds_t)(interval_ns % NS_PER_S / 1000)},
		{(time_t)(value_ns / NS_PER_S), (suseconds_t)(value_ns % NS_PER_S / 1000)}};

	return addr ? gmem_write(t, addr, &it, sizeof(it)) : 0;
}

static int from_timeval(const struct timeval *tv, uint64_t *ret_ns)
{
	struct timespec ts = {tv->tv_sec, tv->tv_usec * 1000};

	if (tv->tv_usec < 0 || tv->tv_usec >= 1000000)
		return -EINVAL;
	return sys_time_from_spec(&ts, ret_ns);
}

enum act enter_setitimer(struct task *t, struct call *c)
{
	int which = (int)c->arg[0];
	uint64_t value, interval, was, was_interval;
	struct itimerval it = {0};

	if (c->arg[1] && gmem_read(t, c->arg[1], &it, sizeof(it)) < 0)
		return call_done(c, -EFAULT);
	if (from_timeval(&it.it_value, &value) < 0 || from_timeval(&it.it_interval, &interval) < 0)
		return call_done(c, -EINVAL);
	if (which < 0 || which >= ITIMERS)
		return call_done(c, -EINVAL);
	was = left(&t->proc->itimers[which]);
	was_interval = t->proc->itimers[which].interval_ns;
	set(t->proc, which, value, interval);
	return call_done(c, write_setting(t, c->arg[2], was, was_interval));
}

enum act enter_getitimer(struct task *t, struct call *c)
{
	int which = (int)c->arg[0];
	const struct itimer *it;

	if (which < 0 || which >= ITIMERS)
		return call_done(c, -EINVAL);
	sys_time_read(t);
	it = &t->proc->itimers[which];
	if (!c->arg[1])
		return call_done(c, -EFAULT);
	return call_done(c, write_setting(t, c->arg[1], left(it), it->interval_ns));
}
