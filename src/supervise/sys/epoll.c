/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll_wait and its kin. The supervisor waits with a zero time-out on a duplicate: the interest
 * list and what edges were seen belong to the object, so that the events are those the guest would
 * get, in the kernel's order, which is the order in which things happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/fdwait.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/io/io.h"
#include "supervise/io/ready.h"
#include "supervise/engine/sched.h"
#include "wire/sysnr.h"

enum { EVENTS = 512, INFO_MAX = 64 * 1024 };

static struct epoll_event events[EVENTS];
static char info[INFO_MAX];

static bool is_external_number(struct task *t, int number)
{
	auto_gfd struct gfd g = GFD_NONE;

	return gfd_open(t, number, &g) == 0 && io_is_external(&g);
}

/* Does the interest list hold standard input? From the lines "tfd: N events: ..." in fdinfo. */
static bool waits_for_external(struct task *t, const struct gfd *g)
{
	static const char key[] = "tfd:";
	char path[40];
	autoclose int fd = -1;
	ssize_t n;

	if (!io_has_external())
		return false;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", g->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, info, sizeof(info) - 1);
	info[n > 0 ? n : 0] = '\0';
	for (const char *p = strstr(info, key); p; p = strstr(p, key)) {
		int number = 0;

		for (p += sizeof(key) - 1; *p == ' '; p++)
			;
		for (; *p >= '0' && *p <= '9'; p++)
			number = number * 10 + (*p - '0');
		if (is_external_number(t, number))
			return true;
	}
	return false;
}

/* Readiness of a signalfd is that of whoever asks: then the guest itself must. */
static int wait_in_guest(struct task *t, const struct call *c)
{
	const uint64_t arg[6] = {c->arg[0], c->arg[1], c->arg[2], 0, 0, 0};

	return (int)inject(t, NR_epoll_pwait, arg);
}

static int wait_here(struct task *t, const struct call *c, const struct gfd *g)
{
	int max = (int)c->arg[2];
	int n = epoll_wait(g->fd, events, max < EVENTS ? max : EVENTS, 0);

	if (n < 0)
		return -errno;
	if (gmem_write(t, c->arg[1], events, (size_t)n * sizeof(events[0])) < 0)
		return -EFAULT;
	return n;
}

static enum act epoll_any(struct task *t, struct call *c, struct ready_wait *w)
{
	auto_gfd struct gfd g = GFD_NONE;
	enum act act;
	int n;

	if ((int)c->arg[2] <= 0 || gfd_open(t, (int)c->arg[0], &g) < 0)
		return ACT_NATIVE;
	n = fdkind_has_signalfd() ? wait_in_guest(t, c) : wait_here(t, c, &g);
	if (n < 0)
		return call_done(c, n);
	w->external = waits_for_external(t, &g);
	if (n > 0)
		act = call_done(c, n);
	else
		act = ready_wait(t, c, w);
	if (act == ACT_PARK)
		park_never_restart(t);
	if (act == ACT_PARK && !fdkind_has_signalfd())
		fdwait_add(t, g.fd, POLLIN);
	if (act == ACT_DONE && w->external)
		io_external_read(t, 0);
	return act;
}

enum act enter_epoll_wait(struct task *t, struct call *c)
{
	struct ready_wait w = {0};

	ready_set_ms(&w, (int)c->arg[3]);
	return epoll_any(t, c, &w);
}

enum act enter_epoll_pwait(struct task *t, struct call *c)
{
	struct ready_wait w = {0};
	int r = ready_mask(t, c->arg[4], c->arg[5], &w);

	if (r < 0)
		return call_done(c, r);
	ready_set_ms(&w, (int)c->arg[3]);
	return epoll_any(t, c, &w);
}

enum act enter_epoll_pwait2(struct task *t, struct call *c)
{
	struct ready_wait w = {0};
	int r = ready_limit(t, c->arg[3], &w);

	if (r == 0)
		r = ready_mask(t, c->arg[4], c->arg[5], &w);
	if (r < 0)
		return call_done(c, r);
	return epoll_any(t, c, &w);
}
