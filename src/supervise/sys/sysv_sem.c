/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System V semaphores.
 *
 * How it works: whether an operation would block is computed from the set's values, by the kernel's
 * rule; one that would not is made by the guest itself, which keeps SEM_UNDO and errors the
 * kernel's. Then those who wait at the set are tried, first come first served.
 */
#include <errno.h>
#include <string.h>
#include <sys/sem.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/sched.h"
#include "supervise/sys/sysv.h"
#include "supervise/sys/time.h"
#include "supervise/sys/waiters.h"
#include "wire/sysnr.h"

/* SEMOPM, SEMMSL and SEMVMX of a new namespace: linux/sem.h. */
enum { OPS_MAX = 500, SET_MAX = 32000, VALUE_MAX = 32767 };

union semun {
	int val;
	struct semid_ds *buf;
	unsigned short *array;
};

struct operation {
	int id;
	size_t count;
	struct sembuf ops[OPS_MAX];
};

enum outcome { GOES, BLOCKS, GONE, FAILS /* the kernel says why, at once */ };

static enum outcome read_values(int id, unsigned short *values, size_t *ret_count, mode_t *ret_mode)
{
	struct semid_ds ds = {0};
	union semun arg = {.buf = &ds};

	if (semctl(id, 0, IPC_STAT, arg) < 0)
		return errno == EACCES ? FAILS : GONE;
	arg.array = values;
	if (ds.sem_nsems > SET_MAX || semctl(id, 0, GETALL, arg) < 0)
		return FAILS;
	*ret_count = ds.sem_nsems;
	*ret_mode = ds.sem_perm.mode;
	return GOES;
}

/* perform_atomic_semop of the kernel, on a copy; *ret_at is the operation that blocks. */
static enum outcome simulate(const struct operation *o, size_t *ret_at)
{
	static unsigned short values[SET_MAX];
	size_t count = 0;
	mode_t mode = 0;
	bool alters = false;
	enum outcome outcome = read_values(o->id, values, &count, &mode);

	for (size_t i = 0; i < o->count; i++) {
		alters = alters || o->ops[i].sem_op != 0;
		if (outcome == GOES && o->ops[i].sem_num >= count)
			outcome = FAILS;
	}
	/* One user is all there is. */
	if (outcome != GOES || !(mode & (alters ? 0200 : 0400)))
		return outcome == GOES ? FAILS : outcome;
	for (size_t i = 0; i < o->count; i++) {
		int value = values[o->ops[i].sem_num], change = o->ops[i].sem_op;

		*ret_at = i;
		if ((change == 0 && value != 0) || value + change < 0)
			return BLOCKS;
		if (value + change > VALUE_MAX)
			return FAILS;
		values[o->ops[i].sem_num] = (unsigned short)(value + change);
	}
	return GOES;
}

static enum act go(struct task *t, struct call *c, const struct operation *o)
{
	bool altered = false;

	c->result = inject(t, c->nr, c->arg);
	if (c->result < 0)
		return ACT_DONE;
	sysv_times_of(SYSV_SEM, o->id)->first = sysv_now();
	for (size_t i = 0; i < o->count; i++)
		altered = altered || o->ops[i].sem_op != 0;
	if (altered)
		waiters_wake(WAIT_SEMAPHORE, (uint64_t)o->id);
	return ACT_DONE;
}

/* Which operation of which semaphore it waits for, as GETNCNT and GETZCNT count. */
static uint64_t detail(unsigned semaphore, bool for_zero)
{
	return (uint64_t)semaphore << 1 | for_zero;
}

/* The time-out of semtimedop as a deadline: 0 or a negative errno. */
static int read_deadline(struct task *t, const struct call *c, uint64_t *ret_ns)
{
	struct timespec ts;
	uint64_t ns, now = clock_monotonic();

	*ret_ns = UINT64_MAX;
	if (c->nr != NR_semtimedop || !c->arg[3])
		return 0;
	if (gmem_read(t, c->arg[3], &ts, sizeof(ts)) < 0)
		return -EFAULT;
	if (sys_time_from_spec(&ts, &ns) < 0)
		return -EINVAL;
	*ret_ns = now + ns;
	return 0;
}

enum act enter_semop(struct task *t, struct call *c)
{
	struct operation o = {.id = (int)c->arg[0], .count = (uint32_t)c->arg[2]};
	uint64_t deadline;
	size_t at = 0;
	const struct sembuf *op;

	if (!o.count || o.count > OPS_MAX || o.id < 0 ||
		gmem_read(t, c->arg[1], o.ops, o.count * sizeof(o.ops[0])) < 0 ||
		read_deadline(t, c, &deadline) < 0)
		return ACT_NATIVE; /* refused */
	switch (simulate(&o, &at)) {
	case GOES:
		return go(t, c, &o);
	case GONE:
		return waiters_is_retry(t) ? call_done(c, -EIDRM) : ACT_NATIVE;
	case BLOCKS:
		break;
	case FAILS:
	default:
		return ACT_NATIVE;
	}
	op = &o.ops[at];
	if (t->park.timed_out)
		return call_done(c, -EAGAIN);
	if ((op->sem_flg & IPC_NOWAIT) || deadline <= clock_monotonic()) {
		sched_idle(t, SCHED_IDLE_CALL);
		return call_done(c, -EAGAIN);
	}
	park_no_restart(t);
	return waiters_park(
		t, WAIT_SEMAPHORE, (uint64_t)o.id, detail(op->sem_num, op->sem_op == 0), deadline);
}

enum act enter_semget(struct task *t, struct call *c)
{
	(void)t;
	(void)c;
	return ACT_LEAVE;
}

void leave_semget(struct task *t, struct call *c)
{
	(void)t;
	if (c->result >= 0)
		(void)sysv_times_of(SYSV_SEM, (int)c->result);
}

static enum act change(struct task *t, struct call *c)
{
	int id = (int)c->arg[0];

	c->result = inject(t, c->nr, c->arg);
	if (c->result < 0)
		return ACT_DONE;
	if ((int)c->arg[2] == IPC_RMID)
		sysv_forget(SYSV_SEM, id);
	else
		sysv_times_of(SYSV_SEM, id)->change = sysv_now();
	waiters_wake(WAIT_SEMAPHORE, (uint64_t)id);
	return ACT_DONE;
}

enum act enter_semctl(struct task *t, struct call *c)
{
	int cmd = (int)c->arg[2];

	switch (cmd) {
	case IPC_RMID:
	case IPC_SET:
	case SETVAL:
	case SETALL:
		return change(t, c);
	case GETNCNT:
	case GETZCNT:
		c->result = inject(t, c->nr, c->arg);
		if (c->result >= 0)
			c->result = waiters_count(WAIT_SEMAPHORE, c->arg[0],
				detail((uint32_t)c->arg[1], cmd == GETZCNT));
		return ACT_DONE;
	case IPC_STAT:
	case SEM_STAT:
	case SEM_STAT_ANY:
		return ACT_LEAVE;
	default:
		return ACT_NATIVE;
	}
}

void leave_semctl(struct task *t, struct call *c)
{
	int id = (int)c->arg[2] == IPC_STAT ? (int)c->arg[0] : (int)c->result;
	const struct sysv_times *times;
	struct semid_ds ds;

	if (c->result < 0 || gmem_read(t, c->arg[3], &ds, sizeof(ds)) < 0)
		return;
	times = sysv_times_of(SYSV_SEM, id);
	ds.sem_otime = times->first;
	ds.sem_ctime = times->change;
	if (gmem_write(t, c->arg[3], &ds, sizeof(ds)) < 0)
		c->result = -EFAULT;
}
