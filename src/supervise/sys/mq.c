/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX message queues: a send or receive that the queue's readiness shows not to wait is made by
 * the guest; another is parked until somebody sends or receives. The queues are the kernel's own. A
 * notification is the kernel's too: it comes although a receiver waits here, which the kernel does
 * not know of.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/life.h"
#include "supervise/engine/sched.h"
#include "supervise/io/fdkind.h"
#include "supervise/sys/time.h"
#include "supervise/sys/waiters.h"
#include "wire/sysnr.h"

enum { MQUEUE_MAGIC_NUMBER = 0x19800202, PRIORITIES = 32768 };

/* The kernel's own struct: mq_attr(7) with longs. */
static int queue_attributes(int fd, struct mq_attr *ret)
{
	return syscall(SYS_mq_getsetattr, fd, NULL, ret) < 0 ? -1 : 0;
}

/* Nothing but waiting is left to do: else the kernel has an answer at once. */
static bool would_wait(const struct call *c, const struct gfd *g)
{
	bool sends = c->nr == NR_mq_timedsend;
	int flags = fcntl(g->fd, F_GETFL);
	struct mq_attr attr;

	if (flags < 0 || (flags & (O_NONBLOCK | O_PATH)) ||
		(flags & O_ACCMODE) == (sends ? O_RDONLY : O_WRONLY) ||
		queue_attributes(g->fd, &attr) < 0)
		return false;
	if (sends)
		return c->arg[2] <= (uint64_t)attr.mq_msgsize && (uint32_t)c->arg[3] < PRIORITIES;
	return c->arg[2] >= (uint64_t)attr.mq_msgsize;
}

/* 0; -1: the kernel refuses it. */
static int read_deadline(struct task *t, const struct call *c, uint64_t *ret_ns)
{
	struct timespec ts;
	uint64_t ns;

	*ret_ns = UINT64_MAX;
	if (!c->arg[4])
		return 0;
	if (gmem_read(t, c->arg[4], &ts, sizeof(ts)) < 0 || sys_time_from_spec(&ts, &ns) < 0)
		return -1;
	*ret_ns = clock_from_realtime(ns);
	return 0;
}

static bool is_queue(const struct gfd *g)
{
	struct statfs fs;

	return g->kind == FDKIND_FILE && fstatfs(g->fd, &fs) == 0 &&
	       (uint32_t)fs.f_type == MQUEUE_MAGIC_NUMBER;
}

enum act enter_mq_transfer(struct task *t, struct call *c)
{
	bool sends = c->nr == NR_mq_timedsend;
	auto_gfd struct gfd g = GFD_NONE;
	uint64_t deadline, id;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || !is_queue(&g) ||
		read_deadline(t, c, &deadline) < 0)
		return ACT_NATIVE;
	id = g.st.st_ino;
	if (gfd_poll(&g, sends ? POLLOUT : POLLIN)) {
		c->result = inject(t, c->nr, c->arg);
		if (c->result >= 0) {
			waiters_wake(sends ? WAIT_MQ_RECEIVE : WAIT_MQ_SEND, id);
			sched_signals_changed(); /* mq_notify */
		}
		return ACT_DONE;
	}
	if (!would_wait(c, &g)) {
		sched_idle(t, SCHED_IDLE_CALL);
		return ACT_NATIVE;
	}
	if (t->park.timed_out)
		return call_done(c, -ETIMEDOUT);
	if (deadline <= clock_monotonic()) {
		sched_idle(t, SCHED_IDLE_CALL);
		return call_done(c, -ETIMEDOUT);
	}
	return waiters_park(t, sends ? WAIT_MQ_SEND : WAIT_MQ_RECEIVE, id, 0, deadline);
}

/* A message may send a signal, which then is no host's. */
enum act enter_mq_notify(struct task *t, struct call *c)
{
	struct sigevent e;

	if (c->arg[1] && gmem_read(t, c->arg[1], &e, sizeof(e)) == 0 && e.sigev_signo == SIGKILL)
		life_kill_unclear();
	return ACT_NATIVE;
}
