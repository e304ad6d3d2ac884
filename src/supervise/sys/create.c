/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a descriptor whose reads and writes must be mediated: the process is tightened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "supervise/io/fdkind.h"
#include "supervise/io/io.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/io/inotify.h"
#include "supervise/io/netlink.h"
#include "supervise/engine/tighten.h"
#include "supervise/report.h"
#include "wire/sysnr.h"

/* A filter needs the number, so that the call is made first. */
static enum act make_one(struct task *t, struct call *c)
{
	if (t->proc->tight == TIGHT_ALL)
		return ACT_NATIVE;
	c->result = inject(t, c->nr, c->arg);
	if (c->result >= 0)
		tighten_below(t, (uint32_t)c->result + 1);
	return ACT_DONE;
}

enum act enter_create(struct task *t, struct call *c)
{
	return make_one(t, c);
}

/* The same of a call that writes two numbers. */
static enum act make_two(struct task *t, struct call *c, uint64_t addr)
{
	int32_t ends[2];

	if (t->proc->tight == TIGHT_ALL)
		return ACT_NATIVE;
	c->result = inject(t, c->nr, c->arg);
	if (c->result < 0)
		return ACT_DONE;
	if (gmem_read(t, addr, ends, sizeof(ends)) < 0)
		tighten(t);
	else
		tighten_below(t, (uint32_t)(ends[0] > ends[1] ? ends[0] : ends[1]) + 1);
	return ACT_DONE;
}

enum act enter_pipe(struct task *t, struct call *c)
{
	return make_two(t, c, c->arg[0]);
}

enum act enter_socketpair(struct task *t, struct call *c)
{
	return make_two(t, c, c->arg[3]);
}

/* dup, dup2, dup3 and fcntl's ways: one more number for what may be mediated. */
enum act enter_dup(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	if (t->proc->tight == TIGHT_ALL || (uint32_t)c->arg[0] >= t->proc->tight ||
		gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind == FDKIND_FILE ||
		io_is_own_output(&g))
		return ACT_NATIVE;
	if (c->nr == NR_dup2 || c->nr == NR_dup3) {
		if ((int32_t)c->arg[1] >= 0)
			tighten_below(t, (uint32_t)c->arg[1] + 1);
		return ACT_NATIVE;
	}
	return make_one(t, c);
}

/* Two processes will share their descriptors, but each has its own filter. */
enum act enter_clone(struct task *t, struct call *c)
{
	(void)c;
	tighten(t);
	return ACT_NATIVE;
}

enum act enter_socket(struct task *t, struct call *c)
{
	/* Of netlink's protocols, routing alone: the others are modules that a kernel may lack. */
	if ((int)c->arg[0] == AF_NETLINK && !netlink_made((int)c->arg[2]))
		return call_done(c, -EPROTONOSUPPORT);
	return make_one(t, c);
}

enum act enter_signalfd(struct task *t, struct call *c)
{
	(void)c;
	fdkind_signalfd_made();
	tighten(t);
	return ACT_NATIVE;
}

/* Is there another number for a descriptor? */
static bool has_number_left(struct task *t)
{
	const uint64_t nothing[6] = {0};
	int64_t fd = inject(t, NR_eventfd2, nothing);
	const uint64_t made[6] = {(uint64_t)fd};

	return fd >= 0 && inject(t, NR_close, made) == 0;
}

enum act enter_inotify_watch(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_LEAVE;
}

/* How much they watch is counted by the host's user too. */
void leave_inotify_watch(struct task *t, struct call *c)
{
	(void)t;
	if (c->result == -ENOSPC)
		report_not_enforced(REASON_UNMODELLED,
			"inotify: the host's user watches too much (fs.inotify.max_user_watches)");
}

/* How many there may be is counted by the host's user, who is not this guest alone. */
enum act enter_inotify(struct task *t, struct call *c)
{
	inotify_made();
	c->result = inject(t, c->nr, c->arg);
	if (c->result >= 0 && t->proc->tight != TIGHT_ALL)
		tighten_below(t, (uint32_t)c->result + 1);
	if (c->result == -EMFILE && has_number_left(t))
		report_not_enforced(REASON_UNMODELLED,
			"inotify: the host's user has too many (fs.inotify.max_user_instances)");
	return ACT_DONE;
}
