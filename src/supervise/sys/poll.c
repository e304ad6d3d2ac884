/* SPDX-License-Identifier: Apache-2.0 */
/* poll and ppoll: answered in the supervisor, time-outs on the logical clock. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/io.h"
#include "supervise/io/ready.h"

static struct pollfd fds[READY_MAX];

static int write_revents(struct task *t, uint64_t addr, size_t count)
{
	/* Only revents are the kernel's to write, but whole entries that we read are the same. */
	return gmem_write(t, addr, fds, count * sizeof(fds[0]));
}

static enum act finish(
	struct task *t, struct call *c, size_t count, int ready, const struct ready_wait *w)
{
	if (w->external)
		io_external_read(t, 0);
	if (write_revents(t, c->arg[0], count) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, ready);
}

static enum act poll_any(struct task *t, struct call *c, struct ready_wait *w)
{
	size_t count = (size_t)(uint32_t)c->arg[1];
	enum act act;
	int ready;

	if (count > READY_MAX)
		return call_done(c, -EINVAL);
	if (gmem_read(t, c->arg[0], fds, count * sizeof(fds[0])) < 0)
		return call_done(c, -EFAULT);
	ready = ready_poll(t, fds, count, &w->external);
	if (ready > 0)
		return finish(t, c, count, ready, w);
	act = ready_wait(t, c, w);
	if (act == ACT_PARK)
		ready_watch(t, fds, count);
	return act == ACT_DONE ? finish(t, c, count, 0, w) : act;
}

enum act enter_poll(struct task *t, struct call *c)
{
	struct ready_wait w = {0};

	ready_set_ms(&w, (int)c->arg[2]);
	return poll_any(t, c, &w);
}

enum act enter_ppoll(struct task *t, struct call *c)
{
	struct ready_wait w = {0};
	int r = ready_limit(t, c->arg[2], &w);
	enum act act;

	if (r == 0)
		r = ready_mask(t, c->arg[3], c->arg[4], &w);
	if (r < 0)
		return call_done(c, r);
	act = poll_any(t, c, &w);
	if (act == ACT_DONE && w.has_limit) {
		uint64_t left = ready_left(t, &w);
		struct timespec ts = {(time_t)(left / 1000000000), (long)(left % 1000000000)};

		/* As in the kernel, a read-only timespec is no error. */
		if (gmem_write(t, c->arg[2], &ts, sizeof(ts)) < 0)
			return act;
	}
	return act;
}
