/* SPDX-License-Identifier: Apache-2.0 */
/* Clock reads, sleeps and interval timers on the logical clock. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/signals.h"
#include "supervise/sys/time.h"
#include "wire/sysnr.h"

#define NS_PER_S 1000000000ull

enum { COARSE_NS = 4000000, TICKS_NS = 10000000 /* sysconf(_SC_CLK_TCK) is 100 */ };

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

/* -EINVAL for what the kernel refuses; saturates. */
static int from_timespec(const struct timespec *ts, uint64_t *ret_ns)
{
	if (ts->tv_sec < 0 || ts->tv_nsec < 0 || ts->tv_nsec >= (long)NS_PER_S)
		return -EINVAL;
	if ((uint64_t)ts->tv_sec > UINT64_MAX / 2 / NS_PER_S)
		*ret_ns = UINT64_MAX / 2;
	else
		*ret_ns = (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;
	return 0;
}

/*
 * A read that reached us: the counted window of this address space ran out, the page is not mapped
 * yet, or the program makes the plain call. Judges the streak and opens the next window.
 */
static void count_read(struct task *t)
{
	struct mm *mm = t->mm;
	int32_t left;
	uint64_t reads = 1;

	if (clock_step()) {
		clock_advance(clock_monotonic() + clock_step());
		report_counts.clock_reads++;
		return;
	}
	if (!mm->ready) {
		if (inject_page(t) < 0)
			return; /* no page: every read stops, which is right, only slow */
		mm->window = 0;
		left = -1;
	} else if (gmem_read(t, ARCH_COUNTER_PAGE, &left, sizeof(left)) < 0)
		left = -1;
	if (left < 0) {
		if (mm->window) {
			mm->window = sched_clock_reads(t, mm->window);
		} else {
			report_counts.clock_reads += reads;
			mm->window = SCHED_WINDOW;
		}
		left = (int32_t)mm->window;
	} else {
		/* The plain call: it uses up one read of the window like any other. */
		left--;
		if (left <= 0)
			mm->window = sched_clock_reads(t, mm->window);
		left = left <= 0 ? (int32_t)mm->window : left;
	}
	if (gmem_write(t, ARCH_COUNTER_PAGE, &left, sizeof(left)) < 0)
		report_not_enforced(
			REASON_VDSO_UNPATCHED, "the guest unmapped the clock's counter page");
}

void sys_time_count_rest(struct task *t)
{
	int32_t left;

	if (t->mm->ready && !clock_step() && t->mm->window &&
		gmem_read(t, ARCH_COUNTER_PAGE, &left, sizeof(left)) == 0 && left >= 0 &&
		(uint32_t)left <= t->mm->window)
		report_counts.clock_reads += t->mm->window - (uint32_t)left;
}

/* The value of a clock: 0 or -EINVAL. */
static int read_clock(struct task *t, int64_t id, uint64_t *ret_ns)
{
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		*ret_ns = clock_realtime();
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		*ret_ns = clock_monotonic();
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
		*ret_ns = clock_monotonic() - t->proc->start_ns;
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		*ret_ns = clock_monotonic() - t->start_ns;
		return 0;
	default:
		break;
	}
	if (id >= 0)
		return -EINVAL;
	/* A CPU clock of a process or thread: clock_getcpuclockid(3), pthread_getcpuclockid(3). */
	if (id & 4) {
		struct task *other = ~(id >> 3) ? task_find((pid_t) ~(id >> 3)) : t;

		if (!other)
			return -EINVAL;
		*ret_ns = clock_monotonic() - other->start_ns;
	} else {
		struct process *other = ~(id >> 3) ? process_find((pid_t) ~(id >> 3)) : t->proc;

		if (!other)
			return -EINVAL;
		*ret_ns = clock_monotonic() - other->start_ns;
	}
	return 0;
}

enum act enter_clock_gettime(struct task *t, struct call *c)
{
	struct timespec ts;
	uint64_t ns;
	int r = read_clock(t, (int32_t)c->arg[0], &ns);

	if (r < 0)
		return call_done(c, r);
	count_read(t);
	if (read_clock(t, (int32_t)c->arg[0], &ns) < 0)
		return call_done(c, -EINVAL);
	ts = to_timespec(ns);
	return call_done(c, gmem_write(t, c->arg[1], &ts, sizeof(ts)));
}

enum act enter_gettimeofday(struct task *t, struct call *c)
{
	struct timezone tz = {0};
	struct timeval tv;
	int r = 0;

	count_read(t);
	tv.tv_sec = (time_t)(clock_realtime() / NS_PER_S);
	tv.tv_usec = (suseconds_t)(clock_realtime() % NS_PER_S / 1000);
	if (c->arg[0])
		r = gmem_write(t, c->arg[0], &tv, sizeof(tv));
	if (r == 0 && c->arg[1])
		r = gmem_write(t, c->arg[1], &tz, sizeof(tz));
	return call_done(c, r);
}

enum act enter_time(struct task *t, struct call *c)
{
	int64_t now;

	count_read(t);
	now = (int64_t)(clock_realtime() / NS_PER_S);
	if (c->arg[0] && gmem_write(t, c->arg[0], &now, sizeof(now)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, now);
}

enum act enter_clock_getres(struct task *t, struct call *c)
{
	struct timespec ts = {0, 1};
	int64_t id = (int32_t)c->arg[0];
	uint64_t ns;

	if (read_clock(t, id, &ns) < 0)
		return call_done(c, -EINVAL);
	if (id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE)
		ts.tv_nsec = COARSE_NS;
	if (!c->arg[1])
		return call_done(c, 0);
	return call_done(c, gmem_write(t, c->arg[1], &ts, sizeof(ts)));
}

enum act enter_times(struct task *t, struct call *c)
{
	uint64_t own = (clock_monotonic() - t->proc->start_ns) / TICKS_NS;
	struct tms tms = {.tms_utime = (clock_t)own};

	if (c->arg[0] && gmem_write(t, c->arg[0], &tms, sizeof(tms)) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, (int64_t)(clock_monotonic() / TICKS_NS));
}

enum act enter_getrusage(struct task *t, struct call *c)
{
	int32_t who = (int32_t)c->arg[0];
	struct rusage ru = {.ru_maxrss = 4096};
	uint64_t ns = 0;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return call_done(c, -EINVAL);
	if (who != RUSAGE_CHILDREN)
		ns = clock_monotonic() - (who == RUSAGE_SELF ? t->proc->start_ns : t->start_ns);
	ru.ru_utime.tv_sec = (time_t)(ns / NS_PER_S);
	ru.ru_utime.tv_usec = (suseconds_t)(ns % NS_PER_S / 1000);
	return call_done(c, gmem_write(t, c->arg[1], &ru, sizeof(ru)));
}

/* ---- sleeps ---- */

static enum act sleep_until(struct task *t, struct call *c, uint64_t deadline_ns)
{
	if (t->park.timed_out)
		return call_done(c, 0);
	if (deadline_ns <= clock_monotonic() && !t->park.has_deadline) {
		sched_idle(t, SCHED_IDLE_CALL); /* due at once: a yield */
		return call_done(c, 0);
	}
	park_no_restart(t);
	return park_on_until(t, PARK_TIME, deadline_ns);
}

enum act enter_nanosleep(struct task *t, struct call *c)
{
	struct timespec ts;
	uint64_t ns;

	if (gmem_read(t, c->arg[0], &ts, sizeof(ts)) < 0)
		return call_done(c, -EFAULT);
	if (from_timespec(&ts, &ns) < 0)
		return call_done(c, -EINVAL);
	return sleep_until(t, c, clock_monotonic() + ns);
}

enum act enter_clock_nanosleep(struct task *t, struct call *c)
{
	int64_t id = (int32_t)c->arg[0];
	struct timespec ts;
	uint64_t ns, now;

	if (id == CLOCK_THREAD_CPUTIME_ID)
		return call_done(c, -EOPNOTSUPP);
	if (read_clock(t, id, &now) < 0)
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[2], &ts, sizeof(ts)) < 0)
		return call_done(c, -EFAULT);
	if (from_timespec(&ts, &ns) < 0)
		return call_done(c, -EINVAL);
	if (c->arg[1] & TIMER_ABSTIME)
		ns = ns > now ? ns - now : 0;
	return sleep_until(t, c, clock_monotonic() + ns);
}

void sys_time_interrupted(struct task *t)
{
	uint64_t left, addr = 0;
	struct timespec ts;

	if (t->call.nr == NR_nanosleep)
		addr = t->call.arg[1];
	else if (t->call.nr == NR_clock_nanosleep && !(t->call.arg[1] & TIMER_ABSTIME))
		addr = t->call.arg[3];
	if (!addr || !t->park.has_deadline)
		return;
	left = t->park.deadline_ns > clock_monotonic() ? t->park.deadline_ns - clock_monotonic()
						       : 0;
	ts = to_timespec(left);
	if (gmem_write(t, addr, &ts, sizeof(ts)) < 0)
		return; /* as the kernel, which answers EINTR all the same */
}

enum act enter_pause(struct task *t, struct call *c)
{
	(void)c;
	park_no_restart(t);
	return park_on(t, PARK_TIME);
}

/* ---- ITIMER_REAL and alarm: one timer a process ---- */

static void real_fire(struct timer *timer)
{
	struct process *p = timer->owner;

	report_timer_fired(NULL, timer->deadline_ns);
	if (p->real_interval_ns)
		timer_arm(timer, timer->deadline_ns + p->real_interval_ns, real_fire, p);
	signals_send_timer(p, SIGALRM);
}

static uint64_t real_left(const struct process *p)
{
	if (!timer_is_armed(&p->real_timer))
		return 0;
	return p->real_timer.deadline_ns - clock_monotonic();
}

static void real_set(struct process *p, uint64_t value_ns, uint64_t interval_ns)
{
	timer_disarm(&p->real_timer);
	p->real_interval_ns = value_ns ? interval_ns : 0;
	if (!value_ns)
		return;
	timer_arm(&p->real_timer, clock_monotonic() + value_ns, real_fire, p);
	report_timer_armed(NULL, p->real_timer.deadline_ns);
}

enum act enter_alarm(struct task *t, struct call *c)
{
	uint64_t left = real_left(t->proc);

	real_set(t->proc, (uint64_t)(uint32_t)c->arg[0] * NS_PER_S, 0);
	/* Rounded as the kernel does: up when half a second or more, and never 0 while one is
	 * armed. */
	c->result = (int64_t)((left + NS_PER_S / 2) / NS_PER_S);
	if (left && !c->result)
		c->result = 1;
	return ACT_DONE;
}

static int write_itimer(struct task *t, uint64_t addr, uint64_t value_ns, uint64_t interval_ns)
{
	struct itimerval it = {
		{(time_t)(interval_ns / NS_PER_S), (suseconds_t)(interval_ns % NS_PER_S / 1000)},
		{(time_t)(value_ns / NS_PER_S), (suseconds_t)(value_ns % NS_PER_S / 1000)}};

	return addr ? gmem_write(t, addr, &it, sizeof(it)) : 0;
}

static int read_itimer(struct task *t, uint64_t addr, uint64_t *ret_value, uint64_t *ret_interval)
{
	struct itimerval it = {0};
	struct timespec value, interval;

	if (addr && gmem_read(t, addr, &it, sizeof(it)) < 0)
		return -EFAULT;
	if (it.it_value.tv_sec < 0 || it.it_value.tv_usec < 0 || it.it_value.tv_usec >= 1000000 ||
		it.it_interval.tv_sec < 0 || it.it_interval.tv_usec < 0 ||
		it.it_interval.tv_usec >= 1000000)
		return -EINVAL;
	value = (struct timespec){it.it_value.tv_sec, it.it_value.tv_usec * 1000};
	interval = (struct timespec){it.it_interval.tv_sec, it.it_interval.tv_usec * 1000};
	return from_timespec(&value, ret_value) < 0 ? -EINVAL
						    : from_timespec(&interval, ret_interval);
}

enum act enter_setitimer(struct task *t, struct call *c)
{
	uint64_t value, interval, left = real_left(t->proc), old = t->proc->real_interval_ns;
	int r = read_itimer(t, c->arg[1], &value, &interval);

	if (r < 0)
		return call_done(c, r);
	if (c->arg[0] > ITIMER_PROF)
		return call_done(c, -EINVAL);
	if (c->arg[0] != ITIMER_REAL) {
		/* CPU time stands still while a task computes: such a timer never comes due. */
		if (value)
			report_not_enforced(REASON_TIMER_UNMODELLED,
				"setitimer on CPU time is accepted and never fires");
		return call_done(c, write_itimer(t, c->arg[2], 0, 0));
	}
	real_set(t->proc, value, interval);
	return call_done(c, write_itimer(t, c->arg[2], left, old));
}

enum act enter_getitimer(struct task *t, struct call *c)
{
	if (c->arg[0] > ITIMER_PROF)
		return call_done(c, -EINVAL);
	if (c->arg[0] != ITIMER_REAL)
		return call_done(c, write_itimer(t, c->arg[1], 0, 0));
	return call_done(
		c, write_itimer(t, c->arg[1], real_left(t->proc), t->proc->real_interval_ns));
}
