/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sendfile, splice and tee, which move data between descriptors without the guest's memory: when
 * they could block, the supervisor does them on duplicates that are non-blocking meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/io.h"
#include "supervise/engine/sched.h"
#include "supervise/io/stream.h"
#include "wire/sysnr.h"

static const uint64_t rw_max = 0x7ffff000; /* MAX_RW_COUNT */
/* SPLICE_F_MOVE, _NONBLOCK, _MORE and _GIFT */
enum { SPLICE_ALL = 15 };

/* An offset in the guest's memory: address 0 means the file's own position. */
struct offset {
	uint64_t addr;
	off_t value;
};

static int offset_read(struct task *t, uint64_t addr, struct offset *ret)
{
	ret->addr = addr;
	ret->value = 0;
	return addr ? gmem_read(t, addr, &ret->value, sizeof(ret->value)) : 0;
}

static int offset_write(struct task *t, const struct offset *o)
{
	return o->addr ? gmem_write(t, o->addr, &o->value, sizeof(o->value)) : 0;
}

static off_t *offset_of(struct offset *o)
{
	return o->addr ? &o->value : NULL;
}

/* The kernel never waits for this one. */
static bool is_plain(const struct gfd *g)
{
	return g->kind == FDKIND_FILE || io_is_own_output(g);
}

/*
 * The kernel ends these with EINTR when a signal is there, whatever else they could do, and our own
 * watchdog is one: the guest must not see it.
 */
static ssize_t move_between(
	const struct call *c, const struct gfd *in, const struct gfd *out, struct offset offset[2])
{
	unsigned flags = (unsigned)c->arg[c->nr == NR_tee ? 3 : 5] | SPLICE_F_NONBLOCK;
	size_t len = c->arg[c->nr == NR_tee ? 2 : 4];
	ssize_t n;

	do
		n = c->nr == NR_tee
			    ? tee(in->fd, out->fd, len, flags)
			    : splice(in->fd, offset_of(&offset[0]), out->fd, offset_of(&offset[1]),
				      len, flags & ~(unsigned)SPLICE_F_MORE);
	while (n < 0 && errno == EINTR);
	return n;
}

static ssize_t send_file(int out, int in, off_t *at, size_t count)
{
	ssize_t n;

	do
		n = sendfile(out, in, at, count);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * One piece into a socket, by way of our own memory: how much the kernel's sendfile moves at once
 * depends on how the file lies in the host's page cache.
 */
static ssize_t send_piece(
	const struct gfd *out, const struct gfd *in, struct offset *o, uint64_t count)
{
	off_t at = o->addr ? o->value : lseek(in->fd, 0, SEEK_CUR);
	ssize_t n = at < 0 ? -1
			   : pread(in->fd, stream_chunk,
				     count < STREAM_CHUNK ? count : STREAM_CHUNK, at);

	if (n > 0)
		n = send(out->fd, stream_chunk, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0 && o->addr)
		o->value = at + n;
	if (n > 0 && !o->addr && lseek(in->fd, at + n, SEEK_SET) < 0)
		return -1;
	return n;
}

/*
 * Into a socket all of it goes, as in the kernel; into a pipe what fits at once. The guest's offset
 * is written at every park, so that it is right when a signal ends the call there.
 */
static enum act sendfile_pieces(struct task *t, struct call *c, struct gfd *out,
	const struct gfd *in, struct offset *o, uint64_t count)
{
	uint64_t *progress = &t->park.progress;

	gfd_set_nonblock(out);
	while (*progress < count) {
		uint64_t left = count - *progress;
		ssize_t n = out->kind == FDKIND_SOCKET && stream_is_bytes(out)
				    ? send_piece(out, in, o, left)
				    : send_file(out->fd, in->fd, offset_of(o), left);

		if (n < 0 && errno == EAGAIN && !t->park.timed_out) {
			if (offset_write(t, o) < 0)
				return call_done(c, -EFAULT);
			return stream_park(t, out, SO_SNDTIMEO);
		}
		if (n < 0 && *progress == 0)
			return errno == EPIPE ? ACT_NATIVE : call_done(c, -errno);
		if (n <= 0)
			break;
		*progress += (uint64_t)n;
		sched_moved();
		if (out->kind == FDKIND_PIPE)
			break;
	}
	if (offset_write(t, o) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, (int64_t)*progress);
}

enum act enter_sendfile(struct task *t, struct call *c)
{
	auto_gfd struct gfd out = GFD_NONE, in = GFD_NONE;
	uint64_t count = c->arg[3] < rw_max ? c->arg[3] : rw_max;
	struct offset o;

	if (gfd_open(t, (int)c->arg[0], &out) < 0 || gfd_open(t, (int)c->arg[1], &in) < 0)
		return ACT_NATIVE;
	if (in.kind == FDKIND_RANDOM) /* as a kernel whose random devices cannot be spliced */
		return call_done(c, -EINVAL);
	if (io_is_external(&in))
		return call_done(c, -EINVAL); /* callers fall back to read, which is told */
	if (is_plain(&out) || in.kind != FDKIND_FILE || gfd_is_nonblock(&out) || count == 0)
		return ACT_NATIVE;
	if (offset_read(t, c->arg[2], &o) < 0)
		return call_done(c, -EFAULT);
	return sendfile_pieces(t, c, &out, &in, &o, count);
}

static enum act move_once(
	struct task *t, struct call *c, struct gfd *in, struct gfd *out, struct offset offset[2])
{
	ssize_t n;

	gfd_set_nonblock(in);
	gfd_set_nonblock(out);
	n = move_between(c, in, out, offset);
	if (n < 0 && errno == EAGAIN) {
		if (!t->park.timed_out)
			return stream_park(t, in->kind == FDKIND_SOCKET ? in : out,
				in->kind == FDKIND_SOCKET ? SO_RCVTIMEO : SO_SNDTIMEO);
		return call_done(c, -EAGAIN);
	}
	if (n < 0)
		return errno == EPIPE ? ACT_NATIVE : call_done(c, -errno);
	if (offset_write(t, &offset[0]) < 0 || offset_write(t, &offset[1]) < 0)
		return call_done(c, -EFAULT);
	return call_done(c, n);
}

/* Into a pipe what fits once there is any room, out of it what is there: no more waiting than that.
 */
enum act enter_vmsplice(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct stream_options o = {.not_blocking = c->arg[3] & SPLICE_F_NONBLOCK};

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_PIPE || c->arg[2] == 0 ||
		(c->arg[3] & ~(uint64_t)SPLICE_ALL))
		return ACT_NATIVE;
	if (!gfd_can_write(&g))
		return io_is_external(&g) ? call_done(c, -EINVAL)
					  : stream_wait_readable(t, c, &g, &o);
	if (io_is_own_output(&g) || (gfd_poll(&g, POLLOUT) & (POLLOUT | POLLERR)))
		return ACT_NATIVE;
	return o.not_blocking ? stream_idle(t) : park_on(t, PARK_FD);
}

enum act enter_splice(struct task *t, struct call *c)
{
	auto_gfd struct gfd in = GFD_NONE, out = GFD_NONE;
	struct offset offset[2] = {{0}};
	bool is_tee = c->nr == NR_tee;
	unsigned flags = (unsigned)c->arg[is_tee ? 3 : 5];

	if (gfd_open(t, (int)c->arg[0], &in) < 0 ||
		gfd_open(t, (int)c->arg[is_tee ? 1 : 2], &out) < 0)
		return ACT_NATIVE;
	if (in.kind == FDKIND_RANDOM || io_is_external(&in))
		return call_done(c, -EINVAL);
	if ((is_plain(&in) && is_plain(&out)) || (flags & SPLICE_F_NONBLOCK) ||
		(gfd_is_nonblock(&in) && gfd_is_nonblock(&out)))
		return ACT_NATIVE;
	if (io_is_own_output(&out) && !gfd_poll(&in, POLLIN))
		return stream_park(t, &in, SO_RCVTIMEO);
	if (io_is_own_output(&out))
		return ACT_NATIVE;
	if (!is_tee && (offset_read(t, c->arg[1], &offset[0]) < 0 ||
			       offset_read(t, c->arg[3], &offset[1]) < 0))
		return call_done(c, -EFAULT);
	return move_once(t, c, &in, &out, offset);
}
