/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes that can block: see stream.h.
 *
 * How it works: readiness is tested on a duplicate that is closed within the stop. A read goes
 * native when the test says that the kernel will answer at once. A write goes native when it
 * provably fits: an empty pipe takes as much as its size, any pipe that polls writable takes
 * PIPE_BUF (4096) bytes, a socket what its send buffer has free after overhead. What does not fit
 * is copied by the supervisor, whose duplicate is non-blocking meanwhile; task->park.progress
 * counts.
 */
#include "supervise/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/fdwait.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/inject.h"
#include "supervise/io/external.h"
#include "supervise/io/io.h"
#include "supervise/io/outside.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/sigmask.h"
#include "supervise/io/pty.h"
#include "supervise/io/tty.h"
#include "wire/sysnr.h"

enum { PIPE_ATOMIC = 4096, READY_IN = POLLIN | POLLPRI | POLLHUP | POLLERR | POLLNVAL };
static const uint64_t ns_per_s = 1000000000;

char stream_chunk[STREAM_CHUNK];

enum act stream_idle(struct task *t)
{
	sched_idle(t, SCHED_IDLE_CALL);
	return ACT_NATIVE;
}

uint64_t stream_limit(const struct gfd *g, int what)
{
	struct timeval tv = {0};
	socklen_t len = sizeof(tv);

	if (!what || g->kind != FDKIND_SOCKET || getsockopt(g->fd, SOL_SOCKET, what, &tv, &len) < 0)
		return 0;
	return (uint64_t)tv.tv_sec * ns_per_s + (uint64_t)tv.tv_usec * 1000;
}

enum act stream_park(struct task *t, const struct gfd *g, int what)
{
	uint64_t limit = stream_limit(g, what);

	if (limit == 0)
		return park_on(t, PARK_FD);
	/* With a time-out of its own a socket call is never restarted: sock_intr_errno. */
	park_never_restart(t);
	return park_on_until(t, PARK_FD, clock_monotonic() + limit);
}

/* signalfd answers for whoever polls it, so the caller's own pending signals are looked at. */
static bool is_readable(struct task *t, const struct gfd *g)
{
	uint64_t mask;

	if (gfd_is_signalfd(g))
		return !gfd_info(g, "sigmask", 16, &mask) || (sigmask_pending(t) & mask);
	return gfd_poll(g, POLLIN) & READY_IN;
}

/* An epoll descriptor or pidfd: ready for poll, never for read. */
static bool refuses_reads(const struct gfd *g)
{
	char name[64];

	gfd_anon_name(g, name, sizeof(name));
	return strcmp(name, "[eventpoll]") == 0 || strcmp(name, "[pidfd]") == 0;
}

enum act stream_wait_readable(
	struct task *t, struct call *c, const struct gfd *g, const struct stream_options *o)
{
	bool external = io_is_external(g);

	if (!gfd_can_read(g))
		return ACT_NATIVE;
	if (is_readable(t, g))
		return external && !external_is_asked_for() ? ACT_LEAVE : ACT_NATIVE;
	if (o->not_blocking) {
		if (external) /* that there is nothing yet comes from outside too */
			io_external_read(t, 0);
		return stream_idle(t);
	}
	if (g->kind == FDKIND_ANON && refuses_reads(g))
		return ACT_NATIVE;
	t->park.external = external;
	if (g->kind == FDKIND_TTY)
		return tty_park(t, c, g);
	if (t->park.timed_out)
		return call_done(c, -EAGAIN);
	if (gfd_is_signalfd(g)) /* its readiness is that of whoever asks */
		fdwait_never(t);
	else
		fdwait_add(t, g->fd, POLLIN);
	return stream_park(t, g, SO_RCVTIMEO);
}

void stream_leave_read(struct task *t, struct call *c)
{
	io_external_read(t, c->result);
}

static bool pipe_has_room(const struct gfd *g, uint64_t len)
{
	int queued = 0;

	if (len <= PIPE_ATOMIC && (gfd_poll(g, POLLOUT) & (POLLOUT | POLLERR)))
		return true;
	gfd_room_shows(g);
	if (len <= PIPE_ATOMIC)
		return false;
	if (ioctl(g->fd, FIONREAD, &queued) == 0 && queued == 0) {
		int size = fcntl(g->fd, F_GETPIPE_SZ);

		if (size > 0 && len <= (uint64_t)size)
			return true;
	}
	return gfd_poll(g, POLLOUT) & POLLERR;
}

static int socket_option(const struct gfd *g, int name)
{
	int value = -1;
	socklen_t size = sizeof(value);

	return getsockopt(g->fd, SOL_SOCKET, name, &value, &size) < 0 ? -1 : value;
}

bool stream_is_bytes(const struct gfd *g)
{
	return g->kind != FDKIND_SOCKET || socket_option(g, SO_TYPE) == SOCK_STREAM;
}

static bool socket_has_room(const struct gfd *g, uint64_t len)
{
	int domain = socket_option(g, SO_DOMAIN);
	uint32_t mem[SK_MEMINFO_VARS] = {0};
	socklen_t size = sizeof(mem);
	uint64_t used;

	if (!stream_is_bytes(g)) /* a message goes whole; udp over loopback never waits */
		return domain != AF_UNIX || (gfd_poll(g, POLLOUT) & (POLLOUT | POLLERR | POLLHUP));
	if (getsockopt(g->fd, SOL_SOCKET, SO_MEMINFO, mem, &size) < 0)
		return true;
	used = domain == AF_UNIX ? mem[SK_MEMINFO_WMEM_ALLOC] : mem[SK_MEMINFO_WMEM_QUEUED];
	/* unix_stream_sendmsg: one buffer of up to sndbuf / 2 - 64 whenever any room is left. */
	if (domain == AF_UNIX && used < mem[SK_MEMINFO_SNDBUF] &&
		len <= mem[SK_MEMINFO_SNDBUF] / 2 - 64)
		return true;
	/* Twice the length and two pages bound what the kernel accounts for it. */
	if (used + 2 * len + 8192 <= mem[SK_MEMINFO_SNDBUF])
		return true;
	return gfd_poll(g, POLLOUT) & (POLLERR | POLLHUP);
}

/* An eventfd waits while its count and the value would overflow; others refuse writes. */
static bool eventfd_has_room(struct task *t, const struct gfd *g, const struct giov *v)
{
	uint64_t count = 0, value = 0;

	if (!gfd_info(g, "eventfd-count", 16, &count) || !count ||
		giov_get(v, t, 0, &value, sizeof(value)) != sizeof(value))
		return true;
	return value == UINT64_MAX || value < UINT64_MAX - count;
}

/* The kernel would take all of v at once. */
static bool has_room(struct task *t, const struct gfd *g, const struct giov *v)
{
	switch (g->kind) {
	case FDKIND_PIPE:
		return pipe_has_room(g, v->total);
	case FDKIND_SOCKET:
		return socket_has_room(g, v->total);
	case FDKIND_ANON:
		return eventfd_has_room(t, g, v);
	case FDKIND_TTY: /* pty_write looks for itself */
	case FDKIND_FILE:
	case FDKIND_RANDOM:
		break;
	}
	return true;
}

/* The reader went away in the middle: the kernel's own SIGPIPE, by one more byte from the guest. */
static void raise_sigpipe(struct task *t, const struct gfd *g, const struct giov *v)
{
	const uint64_t arg[6] = {(uint64_t)g->number, giov_address(v, t->park.progress), 1};

	/* -EPIPE, or -ESRCH and nobody will see what we answer. */
	if (inject(t, NR_write, arg) < 0)
		return;
}

static ssize_t put(const struct gfd *g, const void *data, size_t len, int msg_flags)
{
	ssize_t n;

	do
		n = g->kind == FDKIND_SOCKET
			    ? send(g->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL | msg_flags)
			    : write(g->fd, data, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* A piece from byte `at` on. What is sent over a unix socket carries the sender's credentials, so
 * there the guest does it. */
static ssize_t put_piece(struct task *t, const struct gfd *g, const struct giov *v, uint64_t at,
	const struct stream_options *o)
{
	uint64_t rest = v->total - at;
	size_t len = rest < STREAM_CHUNK ? rest : STREAM_CHUNK;
	int flags = o->msg_flags & (MSG_OOB | MSG_MORE);
	ssize_t n;

	if (g->kind == FDKIND_SOCKET && socket_option(g, SO_DOMAIN) == AF_UNIX) {
		const uint64_t arg[6] = {(uint64_t)g->number, giov_address(v, at), giov_run(v, at),
			(uint64_t)(flags | MSG_DONTWAIT | MSG_NOSIGNAL)};

		return inject(t, NR_sendto, arg);
	}
	n = giov_get(v, t, at, stream_chunk, len);
	return n > 0 ? put(g, stream_chunk, (size_t)n, flags) : n;
}

static enum act write_pieces(struct task *t, struct call *c, struct gfd *g, const struct giov *v,
	const struct stream_options *o)
{
	uint64_t *progress = &t->park.progress;

	gfd_set_nonblock(g);
	while (*progress < v->total) {
		ssize_t n = put_piece(t, g, v, *progress, o);

		if (n == -EAGAIN) {
			if (!t->park.timed_out) {
				fdwait_add(t, g->fd, POLLOUT);
				return stream_park(t, g, SO_SNDTIMEO);
			}
			return call_done(c, *progress ? (int64_t)*progress : -EAGAIN);
		}
		if (n < 0 && *progress == 0)
			return ACT_NATIVE; /* the kernel says it itself, with its signal */
		if (n == -EPIPE && g->kind == FDKIND_PIPE) /* sockets signal no part */
			raise_sigpipe(t, g, v);
		if (n <= 0)
			break;
		*progress += (uint64_t)n;
		sched_moved();
		if (g->kind == FDKIND_ANON)
			break; /* an eventfd takes one value */
	}
	return call_done(c, (int64_t)*progress);
}

/* The run's own output: all of it, whatever the guest set, since how fast the host drains must not
 * show. Waits for the host in real time. */
static enum act write_own_output(
	struct task *t, struct call *c, struct gfd *g, const struct giov *v)
{
	while (t->park.progress < v->total) {
		struct pollfd p = {.fd = g->fd, .events = POLLOUT};
		ssize_t n = giov_get(v, t, t->park.progress, stream_chunk, PIPE_ATOMIC);

		if (n <= 0)
			break;
		if (poll(&p, 1, -1) < 0)
			continue; /* EINTR: a tick */
		if (!(p.revents & POLLOUT))
			break;
		n = write(g->fd, stream_chunk, (size_t)n);
		if (n < 0 && errno != EAGAIN)
			break;
		t->park.progress += n > 0 ? (uint64_t)n : 0;
	}
	return t->park.progress ? call_done(c, (int64_t)t->park.progress) : ACT_NATIVE;
}

enum act stream_write(struct task *t, struct call *c, struct gfd *g, const struct giov *v,
	const struct stream_options *o)
{
	if (!gfd_can_write(g) || v->total == 0)
		return ACT_NATIVE;
	if (io_is_own_output(g))
		return o->not_blocking ? write_own_output(t, c, g, v) : ACT_NATIVE;
	if (g->kind == FDKIND_TTY)
		return pty_write(t, c, g, v, o->not_blocking);
	if (g->kind == FDKIND_SOCKET)
		outside_before_sending(g);
	if (o->not_blocking) {
		bool room = gfd_poll(g, POLLOUT) & (POLLOUT | POLLERR | POLLHUP);

		if (!room || v->total > PIPE_ATOMIC)
			gfd_room_shows(g);
		return room ? ACT_NATIVE : stream_idle(t);
	}
	if (t->park.progress == 0) {
		if (has_room(t, g, v))
			return ACT_NATIVE;
		if ((g->kind == FDKIND_PIPE && v->total <= PIPE_ATOMIC) || !stream_is_bytes(g)) {
			if (t->park.timed_out)
				return call_done(c, -EAGAIN);
			fdwait_add(t, g->fd, POLLOUT);
			return stream_park(t, g, SO_SNDTIMEO);
		}
	}
	return write_pieces(t, c, g, v, o);
}
