/* SPDX-License-Identifier: Apache-2.0 */
/* Clock reads and sleeps on the logical clock. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>
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

enum { COARSE_NS = 4000000, NTP_PHASE_LIMIT_US = 16000000 };

struct timespec sys_time_spec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

int sys_time_from_spec(const struct timespec *ts, uint64_t *ret_ns)
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
void sys_time_read(struct task *t)
{
	struct mm *mm = t->mm;
	int32_t left;
	uint64_t reads = 1;

	t->was_idle = true; /* it does nothing for anybody: the streak goes on */
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

/* The process or thread behind a CPU clock's number: clock_getcpuclockid(3). */
static int find_cpu_clock(struct task *t, int64_t id, struct sys_clock *ret)
{
	enum { PER_THREAD = 4, WHICH = 3 };
	pid_t number = (pid_t) ~(uint32_t)((uint64_t)id >> 3);

	/* Which time is counted is no matter: profile, user and scheduled are one here. */
	if ((id & WHICH) == WHICH)
		return -EINVAL;
	ret->kind = SYS_CLOCK_CPU;
	if (id & PER_THREAD) {
		const struct task *other = number ? task_find(number) : t;

		if (!other || other->proc != t->proc)
			return -EINVAL;
		ret->start_ns = other->start_ns;
		ret->own_thread = other == t;
	} else {
		const struct process *other = number ? process_find(number) : t->proc;

		if (!other || other->zombie)
			return -EINVAL;
		ret->start_ns = other->start_ns;
	}
	return 0;
}

int sys_time_clock(struct task *t, int64_t id, struct sys_clock *ret)
{
	*ret = (struct sys_clock){.id = id};
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		ret->kind = SYS_CLOCK_REALTIME;
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		ret->kind = SYS_CLOCK_MONOTONIC;
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
		*ret = (struct sys_clock){SYS_CLOCK_CPU, id, t->proc->start_ns, false};
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		*ret = (struct sys_clock){SYS_CLOCK_CPU, id, t->start_ns, true};
		return 0;
	default:
		return id >= 0 ? -EINVAL : find_cpu_clock(t, id, ret);
	}
}

uint64_t sys_time_value(const struct sys_clock *clock)
{
	if (clock->kind == SYS_CLOCK_REALTIME)
		return clock_realtime();
	return clock_monotonic() - (clock->kind == SYS_CLOCK_CPU ? clock->start_ns : 0);
}

/* The value of a clock: 0 or -EINVAL. */
static int read_clock(struct task *t, int64_t id, uint64_t *ret_ns)
{
	struct sys_clock clock;

	if (sys_time_clock(t, id, &clock) < 0)
		return -EINVAL;
	*ret_ns = sys_time_value(&clock);
	return 0;
}

enum act enter_clock_gettime(struct task *t, struct call *c)
{
	struct timespec ts;
	uint64_t ns;
	int r = read_clock(t, (int32_t)c->arg[0], &ns);

	if (r < 0)
		return call_done(c, r);
	sys_time_read(t);
	if (read_clock(t, (int32_t)c->arg[0], &ns) < 0)
		return call_done(c, -EINVAL);
	ts = sys_time_spec(ns);
	return call_done(c, gmem_write(t, c->arg[1], &ts, sizeof(ts)));
}

enum act enter_gettimeofday(struct task *t, struct call *c)
{
	struct timezone tz = {0};
	struct timeval tv;
	int r = 0;

	sys_time_read(t);
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

	sys_time_read(t);
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
	if (sys_time_from_spec(&ts, &ns) < 0)
		return call_done(c, -EINVAL);
	return sleep_until(t, c, clock_monotonic() + ns);
}

/* What clock_nanosleep says of clocks that nobody can sleep on. */
static int check_sleep_clock(const struct sys_clock *clock)
{
	switch (clock->id) {
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_THREAD_CPUTIME_ID:
		return -EOPNOTSUPP;
	case CLOCK_REALTIME_ALARM:
	case CLOCK_BOOTTIME_ALARM:
		return -EPERM;
	default:
		return clock->own_thread ? -EINVAL : 0;
	}
}

enum act enter_clock_nanosleep(struct task *t, struct call *c)
{
	struct sys_clock clock;
	struct timespec ts;
	uint64_t ns, now;
	int r = sys_time_clock(t, (int32_t)c->arg[0], &clock);

	if (r == 0)
		r = check_sleep_clock(&clock);
	if (r < 0)
		return call_done(c, r);
	if (gmem_read(t, c->arg[2], &ts, sizeof(ts)) < 0)
		return call_done(c, -EFAULT);
	if (sys_time_from_spec(&ts, &ns) < 0)
		return call_done(c, -EINVAL);
	now = sys_time_value(&clock);
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
	ts = sys_time_spec(left);
	if (gmem_write(t, addr, &ts, sizeof(ts)) < 0)
		return; /* as the kernel, which answers EINTR all the same */
}

enum act enter_pause(struct task *t, struct call *c)
{
	(void)c;
	park_no_restart(t);
	return park_on(t, PARK_TIME);
}

/* ---- adjustments ---- */

/* linux/timex.h, for what the C library's header has no name. */
enum { ADJ_ADJTIME = 0x8000, ADJ_SINGLESHOT = 1, ADJ_READONLY = 0x2000 };

/* A clock that nobody ever set or steers: what a kernel says of it. */
static int read_adjustment(struct task *t, uint64_t addr)
{
	uint64_t now = clock_realtime();
	struct timex tx;

	if (gmem_read(t, addr, &tx, sizeof(tx)) < 0)
		return -EFAULT;
	if ((tx.modes & ADJ_ADJTIME) && !(tx.modes & ADJ_SINGLESHOT))
		return -EINVAL;
	if (tx.modes && !((tx.modes & ADJ_ADJTIME) && (tx.modes & ADJ_READONLY)))
		return -EPERM;
	tx = (struct timex){.modes = tx.modes,
		.maxerror = NTP_PHASE_LIMIT_US,
		.esterror = NTP_PHASE_LIMIT_US,
		.status = STA_UNSYNC,
		.constant = 2,
		.precision = 1,
		.tolerance = 500 << 16,
		.tick = 10000};
	tx.time.tv_sec = (time_t)(now / NS_PER_S);
	tx.time.tv_usec = (suseconds_t)(now % NS_PER_S / 1000);
	return gmem_write(t, addr, &tx, sizeof(tx)) < 0 ? -EFAULT : TIME_ERROR;
}

enum act enter_adjtimex(struct task *t, struct call *c)
{
	sys_time_read(t);
	return call_done(c, read_adjustment(t, c->arg[0]));
}

enum act enter_clock_adjtime(struct task *t, struct call *c)
{
	struct sys_clock clock;
	int r = sys_time_clock(t, (int32_t)c->arg[0], &clock);

	sys_time_read(t);
	if (r == 0)
		r = clock.id == CLOCK_REALTIME ? read_adjustment(t, c->arg[1]) : -EOPNOTSUPP;
	return call_done(c, r);
}
