/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readiness of many descriptors: see ready.h.
 *
 * Signal masks: ppoll, pselect6 and epoll_pwait wait under a mask of their own. The task stands at
 * the entry of the call meanwhile, under its ordinary mask; park.mask tells the scheduler which
 * signals end the wait. Then, as when a try finds such a signal pending, the kernel does the whole
 * call: it exchanges the masks, answers EINTR without waiting, and leaves the right mask for the
 * handler and for afterwards. Setting the mask from here (PTRACE_SETSIGMASK) would make it the one
 * that the handler returns to.
 */
#include "supervise/io/ready.h"

#include <errno.h>
#include <time.h>

#include "base/fd.h"
#include "supervise/engine/clock.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/fdwait.h"
#include "supervise/engine/gmem.h"
#include "supervise/io/io.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"

enum { BATCH = 64, SIGSET_SIZE = 8 };
static const uint64_t ns_per_s = 1000000000;

static short signalfd_revents(struct task *t, const struct gfd *g, short events)
{
	uint64_t mask = 0;

	if (!gfd_info(g, "sigmask", 16, &mask) || !(sigmask_pending(t) & mask))
		return 0;
	return (short)(events & (POLLIN | POLLRDNORM));
}

/* The host drains it: there is always room, unless it closed. */
static short own_output_revents(short revents, short events)
{
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		return revents;
	return (short)(revents | (events & (POLLOUT | POLLWRNORM)));
}

static int poll_batch(struct task *t, struct pollfd *fds, size_t count, bool *external)
{
	struct gfd open[BATCH];
	struct pollfd ours[BATCH];
	int ready = 0;

	for (size_t i = 0; i < count; i++) {
		ours[i] = (struct pollfd){.fd = -1, .events = fds[i].events};
		open[i] = GFD_NONE;
		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		if (gfd_open(t, fds[i].fd, &open[i]) < 0) {
			fds[i].revents = POLLNVAL;
			continue;
		}
		*external |= (fds[i].events & POLLIN) && io_is_external(&open[i]);
		ours[i].fd = open[i].fd;
	}
	if (poll(ours, count, 0) < 0)
		ours[0].revents = 0; /* cannot fail: no EINTR without waiting, few descriptors */
	for (size_t i = 0; i < count; i++) {
		if (open[i].fd >= 0) {
			fds[i].revents = ours[i].revents;
			if (fds[i].events & ~fds[i].revents & POLLOUT)
				gfd_room_shows(&open[i]);
			if (gfd_is_signalfd(&open[i]))
				fds[i].revents = signalfd_revents(t, &open[i], fds[i].events);
			if (io_is_own_output(&open[i]))
				fds[i].revents = own_output_revents(fds[i].revents, fds[i].events);
			gfd_close(&open[i]);
		}
		ready += fds[i].revents != 0;
	}
	return ready;
}

int ready_poll(struct task *t, struct pollfd *fds, size_t count, bool *ret_external)
{
	bool external = false;
	int ready = 0;

	for (size_t i = 0; i < count; i += BATCH)
		ready += poll_batch(t, fds + i, count - i < BATCH ? count - i : BATCH, &external);
	*ret_external = external;
	return ready;
}

enum act ready_wait(struct task *t, struct call *c, const struct ready_wait *w)
{
	bool over = t->park.timed_out || (w->has_limit && w->limit_ns == 0);

	if (w->has_mask && sigmask_interrupts(t, w->mask))
		return ACT_NATIVE;
	if (over) {
		if (!t->park.timed_out)
			sched_idle(t, SCHED_IDLE_CALL);
		return call_done(c, 0);
	}
	t->park.external = w->external;
	t->park.has_mask = w->has_mask;
	t->park.mask = w->mask;
	park_no_restart(t);
	if (!w->has_limit)
		return park_on(t, PARK_FD);
	return park_on_until(t, PARK_FD,
		w->limit_ns > UINT64_MAX - 1 - clock_monotonic() ? UINT64_MAX
								 : clock_monotonic() + w->limit_ns);
}

void ready_watch(struct task *t, const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count && !t->park.unwatchable; i++) {
		autoclose int fd = fds[i].fd < 0 ? -1 : task_dup_fd(t, fds[i].fd);

		if (fd >= 0)
			fdwait_add(t, fd, fds[i].events);
	}
	if (fdkind_has_signalfd()) /* its readiness is that of whoever asks */
		fdwait_never(t);
}

uint64_t ready_left(const struct task *t, const struct ready_wait *w)
{
	uint64_t now = clock_monotonic();

	if (!t->park.has_deadline)
		return w->limit_ns;
	return t->park.deadline_ns > now ? t->park.deadline_ns - now : 0;
}

int ready_set_limit(struct ready_wait *ret, int64_t sec, int64_t nsec)
{
	if (sec < 0 || nsec < 0 || (uint64_t)nsec >= ns_per_s)
		return -EINVAL;
	ret->has_limit = true;
	ret->limit_ns = (uint64_t)sec > (UINT64_MAX >> 1) / ns_per_s
				? UINT64_MAX >> 1
				: (uint64_t)sec * ns_per_s + (uint64_t)nsec;
	return 0;
}

void ready_set_ms(struct ready_wait *ret, int ms)
{
	ret->has_limit = ms >= 0;
	ret->limit_ns = ms >= 0 ? (uint64_t)ms * 1000000 : 0;
}

int ready_limit(struct task *t, uint64_t addr, struct ready_wait *ret)
{
	struct timespec ts;

	if (!addr)
		return 0;
	if (gmem_read(t, addr, &ts, sizeof(ts)) < 0)
		return -EFAULT;
	return ready_set_limit(ret, ts.tv_sec, ts.tv_nsec);
}

int ready_mask(struct task *t, uint64_t addr, uint64_t size, struct ready_wait *ret)
{
	if (!addr)
		return 0;
	if (size != SIGSET_SIZE)
		return -EINVAL;
	if (gmem_read(t, addr, &ret->mask, sizeof(ret->mask)) < 0)
		return -EFAULT;
	ret->has_mask = true;
	return 0;
}
