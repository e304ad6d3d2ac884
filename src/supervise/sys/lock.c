/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File locks. flock and open-file-description locks belong to the description, so that the
 * supervisor takes them through its duplicate; a POSIX lock belongs to the process, so that the
 * guest tries it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>

#include "supervise/io/fdkind.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/life.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/tighten.h"
#include "wire/sysnr.h"

enum act enter_flock(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	int operation = (int)c->arg[1];

	if (gfd_open(t, (int)c->arg[0], &g) < 0)
		return ACT_NATIVE;
	if (flock(g.fd, operation | LOCK_NB) == 0)
		return call_done(c, 0);
	if (errno != EWOULDBLOCK)
		return ACT_NATIVE; /* the kernel says it itself */
	if (!(operation & LOCK_NB))
		return park_on(t, PARK_FD);
	sched_idle(t, SCHED_IDLE_CALL);
	return call_done(c, -EWOULDBLOCK);
}

static enum act try_description(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct flock lock;

	if (gfd_open(t, (int)c->arg[0], &g) < 0)
		return ACT_NATIVE;
	if (gmem_read(t, c->arg[2], &lock, sizeof(lock)) < 0)
		return call_done(c, -EFAULT);
	if (fcntl(g.fd, F_OFD_SETLK, &lock) == 0)
		return call_done(c, 0);
	if (errno != EAGAIN && errno != EACCES)
		return call_done(c, -errno);
	return park_on(t, PARK_FD);
}

/* The process whose lock is in the way of what t wants; 0: none, -1: a description's. */
static pid_t holder(struct task *t)
{
	const uint64_t arg[6] = {t->call.arg[0], F_GETLK, t->call.arg[2]};
	struct flock wanted, found;
	int64_t r;

	if (gmem_read(t, arg[2], &wanted, sizeof(wanted)) < 0)
		return 0;
	r = inject(t, NR_fcntl, arg);
	if (r < 0 || gmem_read(t, arg[2], &found, sizeof(found)) < 0 ||
		gmem_write(t, arg[2], &wanted, sizeof(wanted)) < 0 || found.l_type == F_UNLCK)
		return 0;
	return found.l_pid;
}

static bool waits_for_lock(const struct task *t)
{
	return t->state == TASK_PARKED && t->call.nr == NR_fcntl && (int)t->call.arg[1] == F_SETLKW;
}

/* Does `pid` wait, by itself or through others, for a lock of `for_pid`? As deep as the kernel
 * looks (MAX_DEADLK_ITERATIONS). */
static bool waits_in_turn(pid_t pid, pid_t for_pid, int depth)
{
	enum { DEPTH = 10 };

	if (pid <= 0 || depth > DEPTH)
		return false;
	if (pid == for_pid)
		return true;
	for (struct task *t = task_list; t; t = t->next)
		if (t->proc->pid == pid && waits_for_lock(t) &&
			waits_in_turn(holder(t), for_pid, depth + 1))
			return true;
	return false;
}

static bool closes_a_ring(struct task *t)
{
	for (const struct task *q = task_list; q; q = q->next)
		if (q->proc != t->proc && waits_for_lock(q))
			return waits_in_turn(holder(t), t->proc->pid, 0);
	return false;
}

static enum act try_process(struct task *t, struct call *c)
{
	const uint64_t arg[6] = {c->arg[0], F_SETLK, c->arg[2]};
	int64_t r = inject(t, NR_fcntl, arg);

	if (r != -EAGAIN && r != -EACCES)
		return call_done(c, r);
	return closes_a_ring(t) ? call_done(c, -EDEADLK) : park_on(t, PARK_FD);
}

enum act enter_fcntl(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	switch ((int)c->arg[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return enter_dup(t, c);
	case F_SETLKW:
		return try_process(t, c);
	case F_OFD_SETLKW:
		return try_description(t, c);
	case F_SETFL:
		/* Its writes to the run's own output must not fail because the host is slow. */
		if (c->arg[2] & O_NONBLOCK)
			tighten(t);
		if (c->arg[2] & O_ASYNC)
			sched_signals_unseen();
		return ACT_NATIVE;
	case F_SETPIPE_SZ:
		gfd_sized_by_guest();
		return ACT_NATIVE;
	case F_GETPIPE_SZ:
		if (gfd_open(t, (int)c->arg[0], &g) == 0)
			gfd_room_shows(&g);
		return ACT_NATIVE;
	case F_SETSIG:
		if (c->arg[2] == SIGKILL)
			life_kill_unclear();
		return ACT_NATIVE;
	case F_SETLEASE: /* whoever opens the file would wait for its holder, in the host's time */
		return call_done(c, -EINVAL);
	case F_SETOWN: /* whom SIGURG goes to */
	case F_SETOWN_EX:
	case F_NOTIFY:
		sched_signals_unseen();
		return ACT_NATIVE;
	default:
		return ACT_NATIVE;
	}
}
