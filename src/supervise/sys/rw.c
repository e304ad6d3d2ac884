/* SPDX-License-Identifier: Apache-2.0 */
/* read, write and their scattered and positioned forms. */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "supervise/engine/entropy.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/giov.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/inotify.h"
#include "supervise/io/io.h"
#include "supervise/io/port.h"
#include "supervise/io/signalfd.h"
#include "supervise/io/received.h"
#include "supervise/io/room.h"
#include "supervise/io/stream.h"
#include "supervise/sys/timerfd.h"
#include "supervise/io/tty.h"
#include "wire/sysnr.h"

enum { SIGINFO_SIZE = 128, COUNTER_SIZE = 8 };

/* A buffer, or an iovec array? */
static bool is_scattered(int nr)
{
	return nr != NR_read && nr != NR_write && nr != NR_pread64 && nr != NR_pwrite64;
}

static bool is_positioned(const struct call *c)
{
	switch (c->nr) {
	case NR_pread64:
	case NR_pwrite64:
	case NR_preadv:
	case NR_pwritev:
		return true;
	case NR_preadv2:
	case NR_pwritev2:
		return (int64_t)c->arg[3] != -1;
	default:
		return false;
	}
}

static int buffer(struct task *t, const struct call *c, struct giov *ret)
{
	if (is_scattered(c->nr))
		return giov_read(ret, t, c->arg[1], c->arg[2]);
	giov_one(ret, c->arg[1], c->arg[2]);
	return 0;
}

static struct stream_options options(const struct call *c, const struct gfd *g)
{
	struct stream_options o = {.not_blocking = gfd_is_nonblock(g)};

	if ((c->nr == NR_preadv2 || c->nr == NR_pwritev2) && (c->arg[5] & RWF_NOWAIT))
		o.not_blocking = true;
	return o;
}

static enum act read_random(struct task *t, struct call *c)
{
	auto_giov struct giov v = GIOV_NONE;
	uint64_t done = 0;
	int r = buffer(t, c, &v);

	if (r < 0)
		return call_done(c, r);
	while (done < v.total) {
		uint64_t rest = v.total - done;
		size_t len = rest < STREAM_CHUNK ? rest : STREAM_CHUNK;
		ssize_t n;

		entropy_draw(t, stream_chunk, len);
		n = giov_put(&v, t, done, stream_chunk, len);
		if (n < 0)
			return call_done(c, done ? (int64_t)done : n);
		done += (uint64_t)n;
		if ((size_t)n < len)
			break;
	}
	return call_done(c, (int64_t)done);
}

/* What the kernel refuses before it would wait. */
static bool is_too_short(struct task *t, const struct call *c, const struct gfd *g)
{
	uint64_t least = 1;

	if (g->kind == FDKIND_ANON)
		least = gfd_is_signalfd(g) ? SIGINFO_SIZE : COUNTER_SIZE;
	if (is_scattered(c->nr)) {
		auto_giov struct giov v = GIOV_NONE;

		return giov_read(&v, t, c->arg[1], c->arg[2]) < 0 || v.total < least;
	}
	return c->arg[2] < least;
}

enum act enter_read(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_giov struct giov v = GIOV_NONE;
	struct stream_options o;
	enum act act;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind == FDKIND_FILE)
		return ACT_NATIVE;
	if (g.kind == FDKIND_RANDOM)
		return gfd_can_read(&g) ? read_random(t, c) : ACT_NATIVE;
	if (is_positioned(c) || is_too_short(t, c, &g))
		return ACT_NATIVE;
	o = options(c, &g);
	timerfd_before_read(&g);
	act = stream_wait_readable(t, c, &g, &o);
	if (act == ACT_NATIVE && (received_matters(&g) || gfd_is_signalfd(&g)))
		return ACT_LEAVE;
	if (act != ACT_NATIVE || (g.kind != FDKIND_TTY && g.kind != FDKIND_ANON) ||
		!(gfd_poll(&g, POLLIN) & POLLIN))
		return act;
	/* It is ready, not only one that does not block. */
	if (g.kind == FDKIND_TTY && buffer(t, c, &v) == 0)
		return tty_read(t, c, &g, &v);
	if (inotify_is(&g) && buffer(t, c, &v) == 0)
		return inotify_read(t, c, &g, &v);
	return act;
}

void leave_read(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_giov struct giov v = GIOV_NONE;
	int r = gfd_open(t, (int)c->arg[0], &g);

	if (r == 0 && received_matters(&g)) {
		if (buffer(t, c, &v) == 0)
			c->result = received_message(t, &g, &v, 0, c->result);
	} else if (r == 0 && gfd_is_signalfd(&g)) {
		if (c->result > 0 && buffer(t, c, &v) == 0)
			signalfd_taken(t, &v, (uint64_t)c->result);
	} else
		stream_leave_read(t, c);
}

/* A blocking write that an empty pipe takes whole: the ones that follow may need no look. */
static bool is_filling(struct task *t, const struct call *c, const struct gfd *g)
{
	return g->kind == FDKIND_PIPE && t->park.progress == 0 && gfd_can_write(g) &&
	       !io_is_own_output(g) && room_look(t, g, c->arg[2]);
}

enum act enter_write(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_giov struct giov v = GIOV_NONE;
	struct stream_options o;

	if (c->nr == NR_write && room_take(t, (int)c->arg[0], c->arg[2]))
		return ACT_NATIVE;
	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind == FDKIND_FILE)
		return ACT_NATIVE;
	if (c->nr == NR_write && is_filling(t, c, &g))
		return ACT_NATIVE;
	if (buffer(t, c, &v) < 0)
		return ACT_NATIVE;
	if (g.kind == FDKIND_RANDOM) /* would stir the host's pool, without effect on ours */
		return gfd_can_write(&g) ? call_done(c, (int64_t)v.total) : ACT_NATIVE;
	if (is_positioned(c))
		return ACT_NATIVE;
	if (timerfd_is(&g))
		return call_done(c, -EINVAL);
	if (g.kind == FDKIND_SOCKET && !stream_is_bytes(&g))
		port_name_sender(t, &g);
	o = options(c, &g);
	return stream_write(t, c, &g, &v, &o);
}
