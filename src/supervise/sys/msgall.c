/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recvmsg with MSG_WAITALL on a unix stream: see msgall.h.
 *
 * How it works: the guest's own recvmsg is made again and again without waiting, for what is still
 * missing: its msghdr and its iovec array are changed for that and put back. As in the kernel the
 * call ends with a piece that brings descriptors, and before one of another sender when credentials
 * are passed. Between two tries the msghdr shows how far it came, since a signal may end the call
 * there; what the guest had in it meanwhile rests in task->park.
 */
#include "supervise/sys/msgall.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "supervise/engine/giov.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/sched.h"
#include "supervise/io/stream.h"

enum { CONTROL_MAX = 1024 };

/* The call, with the guest's own header. */
struct receipt {
	uint64_t addr;
	struct msghdr own, now;
	struct giov v;
	int flags;
};

static void receipt_finish(struct receipt *r)
{
	giov_finish(&r->v);
}
#define auto_receipt CLEANUP(receipt_finish)

static int receipt_read(struct task *t, const struct call *c, struct receipt *ret)
{
	ret->addr = c->arg[1];
	ret->flags = (int)c->arg[2];
	if (gmem_read(t, ret->addr, &ret->own, sizeof(ret->own)) < 0)
		return -EFAULT;
	if (t->park.progress) {
		ret->own.msg_namelen = (socklen_t)t->park.key[0];
		ret->own.msg_controllen = t->park.key[1];
	}
	t->park.key[0] = ret->own.msg_namelen;
	t->park.key[1] = ret->own.msg_controllen;
	return giov_read(&ret->v, t, (uint64_t)(uintptr_t)ret->own.msg_iov, ret->own.msg_iovlen);
}

/* The guest receives what goes at once into what is still free. */
static int64_t receive(struct task *t, const struct call *c, struct receipt *r, int flags)
{
	const uint64_t arg[6] = {c->arg[0], r->addr, (uint64_t)(unsigned)(flags | MSG_DONTWAIT)};
	uint64_t list = (uint64_t)(uintptr_t)r->own.msg_iov;
	size_t size = r->v.count * sizeof(struct iovec), count = 0;
	static struct iovec rest[GIOV_MAX];
	int64_t result;

	/* A look at who sends takes no bytes. */
	for (uint64_t at = t->park.progress;
		!(flags & MSG_PEEK) && at < r->v.total && count < r->v.count; count++) {
		rest[count].iov_base = (void *)(uintptr_t)giov_address(&r->v, at);
		rest[count].iov_len = giov_run(&r->v, at);
		at += rest[count].iov_len;
	}
	r->now = r->own;
	r->now.msg_iovlen = count;
	if (gmem_write(t, list, rest, count * sizeof(rest[0])) < 0 ||
		gmem_write(t, r->addr, &r->now, sizeof(r->now)) < 0)
		return -EFAULT;
	result = inject(t, c->nr, arg);
	if (gmem_read(t, r->addr, &r->now, sizeof(r->now)) < 0 ||
		gmem_write(t, list, r->v.many, size) < 0)
		return -EFAULT;
	r->now.msg_iovlen = r->own.msg_iovlen;
	return result;
}

/* What came along: descriptors, and the sender's pid (0: not told). */
static void along(struct task *t, const struct receipt *r, bool *ret_rights, uint32_t *ret_pid)
{
	_Alignas(struct cmsghdr) static char control[CONTROL_MAX];
	struct msghdr h = r->now;
	struct ucred who;

	*ret_rights = false;
	*ret_pid = 0;
	if (h.msg_controllen > sizeof(control))
		h.msg_controllen = sizeof(control);
	if (gmem_read(t, (uint64_t)(uintptr_t)h.msg_control, control, h.msg_controllen) < 0)
		return;
	h.msg_control = control;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			*ret_rights = true;
		if (c->cmsg_type != SCM_CREDENTIALS || c->cmsg_len < CMSG_LEN(sizeof(who)))
			continue;
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		*ret_pid = (uint32_t)who.pid;
	}
}

static enum act finish(struct task *t, struct call *c, const struct receipt *r, int64_t result)
{
	return call_done(c, gmem_write(t, r->addr, &r->now, sizeof(r->now)) < 0 ? -EFAULT : result);
}

/* Would the next piece come from somebody else? */
static bool is_of_another(struct task *t, const struct call *c, struct receipt *r)
{
	const struct msghdr shown = r->now;
	bool rights;
	uint32_t pid = 0;

	if (!t->park.bits)
		return false;
	if (receive(t, c, r, (r->flags & ~MSG_WAITALL) | MSG_PEEK) >= 0)
		along(t, r, &rights, &pid);
	r->now = shown;
	return pid && pid != t->park.bits;
}

enum act msgall_receive(struct task *t, struct call *c, const struct gfd *g)
{
	auto_receipt struct receipt r = {0};
	uint64_t *progress = &t->park.progress;
	int64_t n = receipt_read(t, c, &r);
	bool rights = false;

	if (n < 0)
		return call_done(c, n);
	if (gmem_read(t, r.addr, &r.now, sizeof(r.now)) < 0)
		return call_done(c, -EFAULT);
	while (*progress < r.v.total && !rights) {
		struct msghdr shown = r.now;

		if (*progress && is_of_another(t, c, &r))
			break;
		n = receive(t, c, &r, r.flags & ~MSG_WAITALL);
		if (n <= 0)
			r.now = shown;
		if (n == -EAGAIN && !t->park.timed_out) {
			if (gmem_write(t, r.addr, &r.now, sizeof(r.now)) < 0)
				return call_done(c, -EFAULT);
			return stream_park(t, g, SO_RCVTIMEO);
		}
		if (n < 0 && *progress == 0)
			return finish(t, c, &r, n);
		if (n <= 0)
			break;
		along(t, &r, &rights, &t->park.bits);
		*progress += (uint64_t)n;
		sched_moved();
	}
	return finish(t, c, &r, (int64_t)*progress);
}
