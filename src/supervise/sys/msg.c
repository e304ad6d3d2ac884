/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The send and recv families. What depends on who sends (descriptors and credentials that travel
 * along, addresses that are paths) is sent by the guest itself with MSG_DONTWAIT.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "supervise/engine/clock.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/fdwait.h"
#include "supervise/io/outside.h"
#include "supervise/io/port.h"
#include "supervise/io/ready.h"
#include "supervise/io/received.h"
#include "supervise/engine/sched.h"
#include "supervise/io/stream.h"
#include "supervise/engine/tighten.h"
#include "supervise/report.h"
#include "supervise/sys/msgall.h"
#include "wire/sysnr.h"

/* A message call, taken apart. */
struct message {
	struct giov v;
	uint64_t name, name_len, control_len;
	int flags;	 /* MSG_ */
	int flags_arg;	 /* which argument they are */
	uint64_t header; /* guest address of the msghdr, or 0 */
};

static void message_finish(struct message *m)
{
	giov_finish(&m->v);
}
#define auto_message CLEANUP(message_finish)

static int read_message(struct task *t, const struct call *c, struct message *ret)
{
	struct msghdr h;
	int r;

	*ret = (struct message){0};
	if (c->nr == NR_sendto || c->nr == NR_recvfrom) {
		giov_one(&ret->v, c->arg[1], c->arg[2]);
		ret->flags = (int)c->arg[3];
		ret->flags_arg = 3;
		ret->name = c->arg[4];
		ret->name_len = c->arg[5];
		return 0;
	}
	ret->flags = (int)c->arg[2];
	ret->flags_arg = 2;
	ret->header = c->arg[1];
	if (gmem_read(t, ret->header, &h, sizeof(h)) < 0)
		return -EFAULT;
	r = giov_read(&ret->v, t, (uint64_t)(uintptr_t)h.msg_iov, h.msg_iovlen);
	ret->name = (uint64_t)(uintptr_t)h.msg_name;
	ret->name_len = h.msg_namelen;
	ret->control_len = h.msg_controllen;
	return r;
}

static struct stream_options options(const struct message *m, const struct gfd *g)
{
	return (struct stream_options){.msg_flags = m->flags,
		.not_blocking = gfd_is_nonblock(g) || (m->flags & MSG_DONTWAIT)};
}

static bool is_unix(const struct gfd *g)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return getsockopt(g->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

/* Counted by the host's user, as queued by whomever. */
static void tell_in_flight(int64_t result)
{
	if (result == -ETOOMANYREFS)
		report_not_enforced(REASON_UNMODELLED,
			"sending a descriptor: the host's user has too many in flight");
}

void leave_sent(struct task *t, struct call *c)
{
	(void)t;
	tell_in_flight(c->result);
}

/* The guest sends the first part, which carries what is its own; the rest goes in pieces. */
static enum act send_by_guest(
	struct task *t, struct call *c, struct gfd *g, const struct message *m)
{
	struct stream_options o = options(m, g);
	uint64_t arg[6];
	int64_t r;

	if (t->park.progress)
		return stream_write(t, c, g, &m->v, &o);
	memcpy(arg, c->arg, sizeof(arg));
	arg[m->flags_arg] |= MSG_DONTWAIT;
	r = inject(t, c->nr, arg);
	if (r == -EAGAIN && !t->park.timed_out)
		return stream_park(t, g, SO_SNDTIMEO);
	tell_in_flight(r);
	if (r <= 0 || (uint64_t)r >= m->v.total || !stream_is_bytes(g))
		return call_done(c, r);
	t->park.progress = (uint64_t)r;
	sched_moved();
	return stream_write(t, c, g, &m->v, &o);
}

/* What the kernel would choose at random is chosen. */
static void before_sending(const struct task *t, const struct gfd *g, bool named)
{
	if (!stream_is_bytes(g))
		port_name_sender(t, g);
	else if (named)
		port_choose(t, g);
}

/* TCP would hold what comes with MSG_MORE back until a time-out in the host's time: it goes at
 * once. */
static int held_back(const struct gfd *g, int flags)
{
	return flags & MSG_MORE && stream_is_bytes(g) ? MSG_MORE : 0;
}

/* A datagram to an address outside: ACT_NATIVE when it can go. */
static enum act reach(
	struct task *t, struct call *c, const struct gfd *g, uint64_t name, uint64_t len)
{
	struct sockaddr_storage to = {0};
	int why = 0;

	if (!outside_is_on() || !name || len < sizeof(sa_family_t) || len > sizeof(to) ||
		stream_is_bytes(g) || gmem_read(t, name, &to, len) < 0)
		return ACT_NATIVE;
	switch (outside_reach(t, g, (const struct sockaddr *)&to, (socklen_t)len, &why)) {
	case OUTSIDE_WAITS:
		t->park.external = true;
		fdwait_never(t);
		return park_on(t, PARK_FD);
	case OUTSIDE_REFUSED:
		return call_done(c, -why);
	case OUTSIDE_READY:
	case OUTSIDE_INSIDE:
		break;
	}
	return ACT_NATIVE;
}

/* The same for each message of a sendmmsg. */
static enum act reach_all(struct task *t, struct call *c, const struct gfd *g)
{
	enum act act = ACT_NATIVE;

	for (uint64_t i = 0; outside_is_on() && act == ACT_NATIVE && i < (uint32_t)c->arg[2]; i++) {
		struct mmsghdr m;

		if (i >= GIOV_MAX || gmem_read(t, c->arg[1] + i * sizeof(m), &m, sizeof(m)) < 0)
			break;
		act = reach(
			t, c, g, (uint64_t)(uintptr_t)m.msg_hdr.msg_name, m.msg_hdr.msg_namelen);
	}
	return act;
}

enum act enter_send(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_message struct message m = {0};
	struct stream_options o;
	enum act act;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	if (read_message(t, c, &m) < 0)
		return ACT_NATIVE; /* the kernel says why not */
	before_sending(t, &g, m.name);
	act = reach(t, c, &g, m.name, m.name_len);
	if (act != ACT_NATIVE)
		return act;
	o = options(&m, &g);
	if (!o.not_blocking && is_unix(&g) && (m.name || m.control_len))
		return send_by_guest(t, c, &g, &m);
	o.msg_flags &= ~held_back(&g, m.flags);
	act = stream_write(t, c, &g, &m.v, &o);
	if (act == ACT_NATIVE && o.msg_flags != m.flags)
		call_set_arg(t, m.flags_arg, (uint32_t)o.msg_flags);
	return act == ACT_NATIVE && m.control_len ? ACT_LEAVE : act;
}

/* The messages of this recvmmsg from `first` on, `count` of them, have arrived. */
static void several_arrived(
	struct task *t, const struct call *c, const struct gfd *g, uint64_t first, int64_t count)
{
	if (count <= 0 || !received_matters(g))
		return;
	for (uint64_t i = first; i < first + (uint64_t)count; i++) {
		uint64_t at = c->arg[1] + i * sizeof(struct mmsghdr);
		auto_giov struct giov v = GIOV_NONE;
		struct mmsghdr m;

		if (gmem_read(t, at, &m, sizeof(m)) < 0 ||
			giov_read(&v, t, (uint64_t)(uintptr_t)m.msg_hdr.msg_iov,
				m.msg_hdr.msg_iovlen) < 0)
			return;
		m.msg_len = (unsigned)received_message(t, g, &v, at, m.msg_len);
		at += offsetof(struct mmsghdr, msg_len);
		if (gmem_write(t, at, &m.msg_len, sizeof(m.msg_len)) < 0)
			return;
	}
}

/* One of several messages after another: the guest does what goes at once, the rest waits. */
static enum act several(
	struct task *t, struct call *c, const struct gfd *g, int timeout_option, uint64_t limit_ns)
{
	bool sends = timeout_option == SO_SNDTIMEO;
	uint64_t *progress = &t->park.progress, count = (uint32_t)c->arg[2];
	uint64_t arg[6] = {c->arg[0], c->arg[1] + *progress * sizeof(struct mmsghdr),
		count - *progress, c->arg[3] | MSG_DONTWAIT};
	int64_t r = inject(t, c->nr, arg);

	if (r > 0) {
		if (!sends)
			several_arrived(t, c, g, *progress, r);
		*progress += (uint64_t)r;
		sched_moved();
	}
	if (r < 0 && r != -EAGAIN) {
		if (sends)
			tell_in_flight(r);
		return call_done(c, *progress ? (int64_t)*progress : r);
	}
	if (*progress >= count || (*progress && !sends && (c->arg[3] & MSG_WAITFORONE)))
		return call_done(c, (int64_t)*progress);
	if (t->park.timed_out)
		return call_done(c, *progress ? (int64_t)*progress : -EAGAIN);
	if (limit_ns != UINT64_MAX)
		return park_on_until(t, PARK_FD, clock_monotonic() + limit_ns);
	return stream_park(t, g, timeout_option);
}

static bool passes_several(const struct call *c, const struct gfd *g)
{
	return g->kind != FDKIND_SOCKET || gfd_is_nonblock(g) || (c->arg[3] & MSG_DONTWAIT) ||
	       (uint32_t)c->arg[2] == 0 || (uint32_t)c->arg[2] > GIOV_MAX;
}

enum act enter_sendmmsg(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	enum act act;
	int held;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	before_sending(t, &g, true);
	act = t->park.progress ? ACT_NATIVE : reach_all(t, c, &g);
	if (act != ACT_NATIVE)
		return act;
	held = held_back(&g, (int)c->arg[3]);
	c->arg[3] &= ~(uint64_t)held;
	if (!passes_several(c, &g))
		return several(t, c, &g, SO_SNDTIMEO, UINT64_MAX);
	if (held)
		call_set_arg(t, 3, c->arg[3]);
	return is_unix(&g) ? ACT_LEAVE : ACT_NATIVE;
}

enum act enter_recvmmsg(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct ready_wait w = {0};
	int r;

	if (gfd_open(t, (int)c->arg[0], &g) < 0)
		return ACT_NATIVE;
	tighten(t); /* a message may bring descriptors */
	if (passes_several(c, &g))
		return received_matters(&g) ? ACT_LEAVE : ACT_NATIVE;
	r = ready_limit(t, c->arg[4], &w);
	if (r < 0)
		return call_done(c, r);
	return several(t, c, &g, SO_RCVTIMEO, w.has_limit ? w.limit_ns : UINT64_MAX);
}

void leave_recvmmsg(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	if (gfd_open(t, (int)c->arg[0], &g) == 0)
		several_arrived(t, c, &g, 0, c->result);
}

/* The fields of the msghdr that the kernel fills, for a stream without anything along. */
static int clear_header(struct task *t, const struct message *m)
{
	struct msghdr h;

	if (!m->header)
		return 0;
	if (gmem_read(t, m->header, &h, sizeof(h)) < 0)
		return -EFAULT;
	h.msg_namelen = 0;
	h.msg_controllen = 0;
	h.msg_flags = 0;
	return gmem_write(t, m->header, &h, sizeof(h));
}

/* MSG_WAITALL: the kernel would sleep with part of the data taken. */
static enum act recv_all(
	struct task *t, struct call *c, const struct gfd *g, const struct message *m)
{
	uint64_t *progress = &t->park.progress;

	while (*progress < m->v.total) {
		uint64_t rest = m->v.total - *progress;
		size_t len = rest < STREAM_CHUNK ? rest : STREAM_CHUNK;
		ssize_t n = recv(g->fd, stream_chunk, len, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			if (!t->park.timed_out)
				return stream_park(t, g, SO_RCVTIMEO);
			return call_done(c, *progress ? (int64_t)*progress : -EAGAIN);
		}
		if (n < 0 && *progress == 0)
			return call_done(c, -errno);
		if (n <= 0)
			break;
		n = giov_put(&m->v, t, *progress, stream_chunk, (size_t)n);
		if (n < 0)
			return call_done(c, *progress ? (int64_t)*progress : n);
		*progress += (uint64_t)n;
		sched_moved();
	}
	return call_done(c, clear_header(t, m) < 0 ? -EFAULT : (int64_t)*progress);
}

enum act enter_recv(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_message struct message m = {0};
	struct stream_options o;
	int queued = 0;
	enum act act;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	if (c->nr == NR_recvmsg)
		tighten(t); /* a message may bring descriptors */
	if (read_message(t, c, &m) < 0)
		return ACT_NATIVE;
	if (m.flags & (MSG_ERRQUEUE | MSG_OOB)) /* never wait */
		return received_matters(&g) ? ACT_LEAVE : ACT_NATIVE;
	o = options(&m, &g);
	if ((m.flags & MSG_WAITALL) && !(m.flags & MSG_PEEK) && !o.not_blocking &&
		stream_is_bytes(&g) && ioctl(g.fd, FIONREAD, &queued) == 0 &&
		(t->park.progress || (uint64_t)queued < m.v.total))
		return m.header && is_unix(&g) ? msgall_receive(t, c, &g) : recv_all(t, c, &g, &m);
	act = stream_wait_readable(t, c, &g, &o);
	return act == ACT_NATIVE && received_matters(&g) ? ACT_LEAVE : act;
}

void leave_recv(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	auto_message struct message m = {0};

	if (gfd_open(t, (int)c->arg[0], &g) == 0 && received_matters(&g)) {
		if (read_message(t, c, &m) == 0)
			c->result = received_message(t, &g, &m.v, m.header, c->result);
		return;
	}
	stream_leave_read(t, c);
}
