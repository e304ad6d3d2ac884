/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals among guests: see tty.h.
 *
 * How it works: what is written to one end of a pty gets to the other through a worker of the
 * kernel, in the host's time. A poll or read that finds nothing waits for that worker, so that
 * "nothing" is certain; but when there is something already, more may still be on its way. So a
 * read of bytes (not of lines, which come whole) is made here, again and again until nothing is
 * left. What is typed into the master end passes two workers (the other end's echo comes back), and
 * a full buffer is refilled by one: for these there is only a short wait, and the run says that it
 * is not enforced.
 */
#include "supervise/io/tty.h"

#include <errno.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/io/stream.h"

/* linux/major.h: a master end is /dev/ptmx */
enum { TTYAUX_MAJOR = 5, PTMX_MINOR = 2 };
static const uint64_t vtime_ns = 100000000;

static bool is_master(const struct gfd *g)
{
	return g->kind == FDKIND_TTY && g->st.st_rdev == makedev(TTYAUX_MAJOR, PTMX_MINOR);
}

/* The kernel's worker needs microseconds, which is likely, not sure. */
static void settle(void)
{
	const struct timespec while_it_works = {.tv_nsec = 1000000};

	nanosleep(&while_it_works, NULL);
	report_not_enforced(REASON_UNMODELLED, "a terminal of the guest's own (pty)");
}

void tty_settle(const struct gfd *g)
{
	if (is_master(g))
		settle();
}

/* Not for a master end, which answers with the other's mode. */
static bool is_of_lines(const struct gfd *g, struct termios *ret_mode)
{
	return tcgetattr(g->fd, ret_mode) < 0 || (ret_mode->c_lflag & ICANON);
}

/* The kernel would stop a background process that reads its terminal: that is its to do. */
static bool is_background(const struct task *t, const struct gfd *g)
{
	pid_t foreground = tcgetpgrp(g->fd);

	return foreground > 0 && foreground != getpgid(t->proc->pid);
}

enum act tty_read(struct task *t, struct call *c, struct gfd *g, const struct giov *v)
{
	struct termios mode;
	uint64_t done = 0;
	bool waited = !is_master(g);

	if (!is_master(g) && (is_of_lines(g, &mode) || is_background(t, g)))
		return ACT_NATIVE;
	gfd_set_nonblock(g);
	while (done < v->total) {
		uint64_t rest = v->total - done;
		ssize_t n = read(g->fd, stream_chunk, rest < STREAM_CHUNK ? rest : STREAM_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && !waited) {
			settle();
			waited = true;
			continue;
		}
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

	if (is_master(g) || is_of_lines(g, &mode) || mode.c_cc[VMIN] > 0)
		return park_on(t, PARK_FD);
	if (mode.c_cc[VTIME] == 0)
		return ACT_NATIVE;
	if (t->park.timed_out)
		return call_done(c, 0);
	return park_on_until(t, PARK_FD, clock_monotonic() + mode.c_cc[VTIME] * vtime_ns);
}
