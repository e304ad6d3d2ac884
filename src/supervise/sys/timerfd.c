/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timerfd on the logical clock.
 *
 * How it works: the guest's descriptor is an eventfd, whose reads answer like a timerfd's: an
 * 8-byte count, then zero. The supervisor keeps a duplicate (an eventfd has no end of file that it
 * could delay) and adds to the count when the timer is due, so that read, poll, select and epoll
 * need to know nothing of it. As in the kernel, an interval timer that came due goes on only when
 * it is read or asked: what came due meanwhile is counted then. A timer is found again by the
 * number that the kernel gives every eventfd, which is not given to another while we hold the
 * duplicate. Duplicates that no guest has any more are closed when their number has doubled.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/clock.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/io/ready.h"
#include "supervise/sys/time.h"
#include "supervise/sys/timerfd.h"
#include "supervise/engine/tighten.h"
#include "wire/sysnr.h"

enum { GC_FIRST = 64 };
static const uint64_t ns_per_s = 1000000000;

struct timerfd {
	int fd;	     /* our duplicate */
	uint64_t id; /* eventfd-id */
	bool realtime;
	uint64_t interval_ns;
	bool rests;	 /* an interval timer that came due and was not read yet */
	int64_t next_ns; /* when it would come due next, if it rests */
	struct timer timer;
	struct timerfd *next;
};

static struct timerfd *timerfds;
static size_t timerfd_count, gc_limit = GC_FIRST;

static const char id_key[] = "eventfd-id";

/* Does /proc/PID/fdinfo/NAME belong to the eventfd with this number? */
static bool info_is(int dir, const char *name, uint64_t id)
{
	char text[512], want[48];
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	snprintf(want, sizeof(want), "\n%s: %lu\n", id_key, (unsigned long)id);
	return strstr(text, want) != NULL;
}

static bool process_holds(pid_t pid, uint64_t id)
{
	char path[40];
	const struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = e->d_name[0] != '.' && info_is(dirfd(dir), e->d_name, id);
	closedir(dir);
	return found;
}

static bool is_held(const struct timerfd *f)
{
	for (const struct process *p = process_list; p; p = p->next)
		if (!p->zombie && process_holds(p->pid, f->id))
			return true;
	return false;
}

static void timerfd_free(struct timerfd *f)
{
	for (struct timerfd **p = &timerfds; *p; p = &(*p)->next)
		if (*p == f) {
			*p = f->next;
			break;
		}
	timer_disarm(&f->timer);
	close(f->fd);
	free(f);
	timerfd_count--;
}

static void collect(void)
{
	for (struct timerfd *f = timerfds, *next; f; f = next) {
		next = f->next;
		if (!is_held(f))
			timerfd_free(f);
	}
	gc_limit = timerfd_count < GC_FIRST / 2 ? GC_FIRST : timerfd_count * 2;
}

static bool is_unread(const struct timerfd *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0 && (p.revents & POLLIN);
}

static void count(const struct timerfd *f, uint64_t expirations)
{
	/* A counter at its limit stays there, as a timerfd's that nobody reads for 500 years. */
	if (write(f->fd, &expirations, sizeof(expirations)) < 0)
		return;
}

static void come_due(struct timerfd *f, int64_t due_ns)
{
	f->rests = f->interval_ns != 0;
	f->next_ns = due_ns + (int64_t)f->interval_ns;
	count(f, 1);
}

static void expire(struct timer *timer)
{
	come_due(timer->owner, (int64_t)timer->deadline_ns);
}

static void go_on(struct timerfd *f)
{
	int64_t now = (int64_t)clock_monotonic();
	uint64_t missed = 0;

	if (!f->rests)
		return;
	f->rests = false;
	if (f->next_ns <= now) {
		missed = (uint64_t)(now - f->next_ns) / f->interval_ns + 1;
		count(f, missed);
	}
	timer_arm(&f->timer, (uint64_t)f->next_ns + missed * f->interval_ns, expire, f);
}

static struct timerfd *find_by_id(uint64_t id)
{
	for (struct timerfd *f = timerfds; f; f = f->next)
		if (f->id == id)
			return f;
	return NULL;
}

void timerfd_before_read(const struct gfd *g)
{
	struct timerfd *f;
	uint64_t id = 0;

	if (!timerfds || g->kind != FDKIND_ANON || !gfd_info(g, id_key, 10, &id))
		return;
	f = find_by_id(id);
	if (f)
		go_on(f);
}

enum act enter_timerfd_create(struct task *t, struct call *c)
{
	int clock = (int)c->arg[0], flags = (int)c->arg[1];
	const uint64_t arg[6] = {0, (uint64_t)flags};
	struct timerfd *f;
	struct gfd g = GFD_NONE;
	uint64_t id = 0;

	if (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
		return call_done(c, -EPERM);
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME) ||
		(flags & ~(TFD_NONBLOCK | TFD_CLOEXEC)))
		return call_done(c, -EINVAL);
	tighten(t);
	if (timerfd_count >= gc_limit)
		collect();
	c->result = inject(t, NR_eventfd2, arg);
	if (c->result < 0 || gfd_open(t, (int)c->result, &g) < 0)
		return ACT_DONE;
	if (!gfd_info(&g, id_key, 10, &id)) {
		gfd_close(&g);
		return ACT_DONE; /* settime will say EINVAL */
	}
	f = mem_alloc(sizeof(*f));
	f->fd = g.fd;
	f->id = id;
	f->realtime = clock == CLOCK_REALTIME;
	f->next = timerfds;
	timerfds = f;
	timerfd_count++;
	return ACT_DONE;
}

/* 0, -EBADF, or -EINVAL when the descriptor is something else. */
static int find(struct task *t, int number, struct timerfd **ret)
{
	auto_gfd struct gfd g = GFD_NONE;
	uint64_t id = 0;

	if (gfd_open(t, number, &g) < 0)
		return -EBADF;
	if (g.kind != FDKIND_ANON || !gfd_info(&g, id_key, 10, &id))
		return -EINVAL;
	*ret = find_by_id(id);
	return *ret ? 0 : -EINVAL;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / ns_per_s), (long)(ns % ns_per_s)};
}

static int write_setting(struct task *t, uint64_t addr, struct timerfd *f)
{
	struct itimerspec its = {{0}, {0}};

	go_on(f);
	its.it_interval = timespec_of(f->interval_ns);
	if (timer_is_armed(&f->timer)) {
		uint64_t now = clock_monotonic(), due = f->timer.deadline_ns;

		its.it_value = timespec_of(due > now ? due - now : 1);
	}
	return gmem_write(t, addr, &its, sizeof(its));
}

enum act enter_timerfd_gettime(struct task *t, struct call *c)
{
	struct timerfd *f = NULL;
	int r = find(t, (int)c->arg[0], &f);

	sys_time_read(t);

	if (r == 0)
		r = write_setting(t, c->arg[1], f);
	return call_done(c, r);
}

static void set(struct timerfd *f, uint64_t value, uint64_t interval, bool absolute)
{
	uint64_t drained;
	int64_t due = (int64_t)value, now = (int64_t)clock_monotonic();

	timer_disarm(&f->timer);
	/* Expirations of the old setting are forgotten. */
	if (is_unread(f) && read(f->fd, &drained, sizeof(drained)) < 0)
		return;
	f->rests = false;
	f->interval_ns = interval;
	if (!value)
		return;
	if (!absolute)
		due = value > (uint64_t)(INT64_MAX - now) ? INT64_MAX : now + due;
	else if (f->realtime)
		due = clock_before_start(value);
	if (due > now)
		timer_arm(&f->timer, (uint64_t)due, expire, f);
	else
		come_due(f, due);
}

enum act enter_timerfd_settime(struct task *t, struct call *c)
{
	struct timerfd *f = NULL;
	struct itimerspec its;
	struct ready_wait value = {0}, interval = {0};
	int r;

	if (c->arg[1] & ~(uint64_t)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[2], &its, sizeof(its)) < 0)
		return call_done(c, -EFAULT);
	if (ready_set_limit(&value, its.it_value.tv_sec, its.it_value.tv_nsec) < 0 ||
		ready_set_limit(&interval, its.it_interval.tv_sec, its.it_interval.tv_nsec) < 0)
		return call_done(c, -EINVAL);
	r = find(t, (int)c->arg[0], &f);
	if (r < 0)
		return call_done(c, r);
	if (c->arg[3] && write_setting(t, c->arg[3], f) < 0)
		return call_done(c, -EFAULT);
	set(f, value.limit_ns, interval.limit_ns, c->arg[1] & TFD_TIMER_ABSTIME);
	return call_done(c, 0);
}

/* Ours could be written to, a timerfd cannot. */
bool timerfd_is(const struct gfd *g)
{
	uint64_t id = 0;

	return timerfds && g->kind == FDKIND_ANON && gfd_info(g, id_key, 10, &id) && find_by_id(id);
}

bool timerfd_is_linked(const char *link)
{
	char dir[32];
	const char *name = strrchr(link, '/');
	autoclose int fd = -1;
	int pid;

	if (!timerfds || !name || sscanf(link, "/proc/%d/fd/", &pid) != 1)
		return false;
	(void)snprintf(dir, sizeof(dir), "/proc/%d/fdinfo", pid);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (const struct timerfd *f = fd < 0 ? NULL : timerfds; f; f = f->next)
		if (info_is(fd, name + 1, f->id))
			return true;
	return false;
}

enum act timerfd_set_ticks(struct task *t, struct call *c)
{
	struct timerfd *f = NULL;
	uint64_t ticks, drained;
	int r = find(t, (int)c->arg[0], &f);

	if (r < 0)
		return call_done(c, r == -EBADF ? r : -ENOTTY);
	if (gmem_read(t, c->arg[2], &ticks, sizeof(ticks)) < 0)
		return call_done(c, -EFAULT);
	if (!ticks)
		return call_done(c, -EINVAL);
	if (is_unread(f) && read(f->fd, &drained, sizeof(drained)) < 0)
		return call_done(c, -EIO);
	count(f, ticks);
	return call_done(c, 0);
}
