/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals among guests: see tty.h.
 *
 * How it works: a poll or read that finds nothing waits for the kernel's worker that carries what
 * was written, so that "nothing" is certain; but when there is something already, more may still be
 * on its way. So a read of bytes (not of lines, which come whole) is made here, again and again
 * until nothing is left. Writes: pty.c.
 */
#include "supervise/io/tty.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/sched.h"
#include "supervise/io/pty.h"
#include "supervise/io/stream.h"

static const uint64_t vtime_ns = 100000000;

/* Not for a master end, which answers with the other's mode. */
static bool is_of_lines(const struct gfd *g, struct termios *ret_mode)
{
	return tcgetattr(g->fd, ret_mode) < 0 || (ret_mode->c_lflag & ICANON);
}

enum act tty_read(struct task *t, struct call *c, struct gfd *g, const struct giov *v)
{
	struct termios mode;
	uint64_t done = 0;

	/* A background process is stopped: the kernel's to do. */
	if (!pty_is_master(g) && (is_of_lines(g, &mode) || pty_is_background(t, g)))
		return ACT_NATIVE;
	gfd_set_nonblock(g);
	while (done < v->total) {
		uint64_t rest = v->total - done;
		ssize_t n = read(g->fd, stream_chunk, rest < STREAM_CHUNK ? rest : STREAM_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && done == 0)
			return ACT_NATIVE; /* its error is the guest's */
		if (n <= 0)
			break;
		n = giov_put(v, t, done, stream_chunk, (size_t)n);
		if (n < 0)
			return call_done(c, done ? (int64_t)done : n);
		done += (uint64_t)n;
	}
	return call_done(c, (int64_t)done);
}

enum act tty_park(struct task *t, struct call *c, const struct gfd *g)
{
	struct termios mode;

	/* As the kernel, which looks at that once, before it waits. */
	if (!t->park.kind && pty_is_background(t, g))
		return ACT_NATIVE;
	if (pty_is_master(g) || is_of_lines(g, &mode) || mode.c_cc[VMIN] > 0)
		return park_on(t, PARK_FD);
	if (mode.c_cc[VTIME] == 0)
		return ACT_NATIVE;
	if (t->park.timed_out)
		return call_done(c, 0);
	return park_on_until(t, PARK_FD, clock_monotonic() + mode.c_cc[VTIME] * vtime_ns);
}
