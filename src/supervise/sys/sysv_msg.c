/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System V message queues: the guest's call is made without waiting (IPC_NOWAIT); one that would
 * wait is parked until somebody changes the queue.
 */
#include <errno.h>
#include <sys/msg.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/sched.h"
#include "supervise/sys/sysv.h"
#include "supervise/sys/waiters.h"

/* Does it now, or finds out that it would wait: then the result is `would_wait`. */
static enum act try_call(
	struct task *t, struct call *c, int flags_at, int would_wait, enum wait_kind kind)
{
	uint64_t arg[6], id = (uint32_t)c->arg[0];

	for (int i = 0; i < 6; i++)
		arg[i] = c->arg[i];
	arg[flags_at] |= IPC_NOWAIT;
	c->result = inject(t, c->nr, arg);
	if ((c->result == -EINVAL || c->result == -EIDRM) && waiters_is_retry(t))
		return call_done(c, -EIDRM);
	if (c->result != would_wait)
		return ACT_DONE;
	if (c->arg[flags_at] & IPC_NOWAIT) {
		sched_idle(t, SCHED_IDLE_CALL);
		return ACT_DONE;
	}
	park_no_restart(t);
	return waiters_park(t, kind, id, 0, UINT64_MAX);
}

enum act enter_msgsnd(struct task *t, struct call *c)
{
	enum act act = try_call(t, c, 3, -EAGAIN, WAIT_MSG_SEND);

	if (act == ACT_DONE && c->result == 0) {
		sysv_times_of(SYSV_MSG, (int)c->arg[0])->first = sysv_now();
		waiters_wake(WAIT_MSG_RECEIVE, (uint32_t)c->arg[0]);
	}
	return act;
}

enum act enter_msgrcv(struct task *t, struct call *c)
{
	enum act act = try_call(t, c, 4, -ENOMSG, WAIT_MSG_RECEIVE);

	if (act == ACT_DONE && c->result >= 0 && !(c->arg[4] & MSG_COPY)) {
		sysv_times_of(SYSV_MSG, (int)c->arg[0])->second = sysv_now();
		waiters_wake(WAIT_MSG_SEND, (uint32_t)c->arg[0]);
	}
	return act;
}

enum act enter_msgget(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_LEAVE;
}

void leave_msgget(struct task *t, struct call *c)
{
	(void)t;
	if (c->result >= 0)
		(void)sysv_times_of(SYSV_MSG, (int)c->result);
}

enum act enter_msgctl(struct task *t, struct call *c)
{
	uint64_t id = (uint32_t)c->arg[0];

	switch ((int)c->arg[1]) {
	case IPC_RMID:
	case IPC_SET:
		c->result = inject(t, c->nr, c->arg);
		if (c->result < 0)
			return ACT_DONE;
		if ((int)c->arg[1] == IPC_RMID)
			sysv_forget(SYSV_MSG, (int)id);
		else
			sysv_times_of(SYSV_MSG, (int)id)->change = sysv_now();
		waiters_wake(WAIT_MSG_SEND, id);
		waiters_wake(WAIT_MSG_RECEIVE, id);
		return ACT_DONE;
	case IPC_STAT:
	case MSG_STAT:
	case MSG_STAT_ANY:
		return ACT_LEAVE;
	default:
		return ACT_NATIVE;
	}
}

void leave_msgctl(struct task *t, struct call *c)
{
	int id = (int)c->arg[1] == IPC_STAT ? (int)c->arg[0] : (int)c->result;
	const struct sysv_times *times;
	struct msqid_ds ds;

	if (c->result < 0 || gmem_read(t, c->arg[2], &ds, sizeof(ds)) < 0)
		return;
	times = sysv_times_of(SYSV_MSG, id);
	ds.msg_stime = times->first;
	ds.msg_rtime = times->second;
	ds.msg_ctime = times->change;
	if (gmem_write(t, c->arg[2], &ds, sizeof(ds)) < 0)
		c->result = -EFAULT;
}
