/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futexes, emulated whole: the kernel never sees a wait or a wake.
 *
 * How it works: a waiter is a task parked with PARK_FUTEX that stands in the queue of its word
 * (futexq.h), in the order in which they came. A wake takes it out of there and puts it into the
 * run queue; its answer is given when its turn comes. Answers and their order are those of
 * kernel/futex: what it checks first is checked first here.
 */
#include "supervise/sys/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <time.h>

#include "supervise/engine/clock.h"
#include "supervise/engine/futex.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/sched.h"

#define NS_PER_S 1000000000ull

enum { BITS_ANY = -1 };

static bool is_private(const struct call *c)
{
	return c->arg[1] & FUTEX_PRIVATE_FLAG;
}

bool futex_is_decided(struct task *t, struct call *c, enum act *ret_act)
{
	if (t->futex_woken)
		*ret_act = call_done(c, t->futex_answer);
	else if (t->park.timed_out)
		*ret_act = call_done(c, -ETIMEDOUT);
	else if (t->futex_count)
		*ret_act = park_on(t, PARK_FUTEX);
	else
		return false;
	return true;
}

int futex_compare(struct task *t, uint64_t addr, uint32_t value)
{
	uint32_t word;

	if (gmem_read(t, addr, &word, sizeof(word)) < 0)
		return -EFAULT;
	return word == value ? 0 : -EAGAIN;
}

/* ---- wait ---- */

int futex_deadline(struct task *t, const struct call *c, uint64_t *ret_ns)
{
	int cmd = (int)c->arg[1] & FUTEX_CMD_MASK;
	struct timespec ts;
	uint64_t ns;

	*ret_ns = UINT64_MAX;
	if (!c->arg[3])
		return 0;
	if (gmem_read(t, c->arg[3], &ts, sizeof(ts)) < 0)
		return -EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec >= (long)NS_PER_S)
		return -EINVAL;
	if ((uint64_t)ts.tv_sec > UINT64_MAX / 2 / NS_PER_S)
		return 0;
	ns = (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
	if (cmd == FUTEX_WAIT)
		*ret_ns = clock_monotonic() + ns;
	else if (cmd == FUTEX_LOCK_PI || (c->arg[1] & FUTEX_CLOCK_REALTIME))
		*ret_ns = clock_from_realtime(ns);
	else
		*ret_ns = ns;
	return 0;
}

enum act futex_park(struct task *t, struct call *c, uint64_t deadline_ns)
{
	if (deadline_ns > clock_monotonic())
		return park_on_until(t, PARK_FUTEX, deadline_ns);
	futex_cancel(t);
	sched_idle(t, SCHED_IDLE_CALL);
	return call_done(c, -ETIMEDOUT);
}

static enum act wait_on(struct task *t, struct call *c, uint32_t bits)
{
	uint32_t value = (uint32_t)c->arg[2];
	struct futex_waiter *w;
	struct futex_key key;
	uint64_t deadline;
	enum act act;
	int r;

	if (futex_is_decided(t, c, &act))
		return act;
	r = futex_deadline(t, c, &deadline);
	if (r == 0 && !bits)
		r = -EINVAL;
	if (r == 0)
		r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r == 0)
		r = futex_compare(t, c->arg[0], value);
	if (r < 0)
		return call_done(c, r);
	w = futexq_prepare(t, 1);
	w->bits = bits;
	w->addr = c->arg[0];
	futexq_join(w, &key);
	w->queue->robust |= value & FUTEX_WAITERS;
	/* As in the kernel, whose restart block acts like it for handlers. */
	if (deadline != UINT64_MAX)
		park_no_restart(t);
	return futex_park(t, c, deadline);
}

/* One of several: struct futex_waitv. */
static int join_one(struct task *t, struct futex_waiter *w, const struct futex_waitv *of)
{
	struct futex_key key;
	int r = futexq_key(t, of->uaddr, of->flags & FUTEX_PRIVATE_FLAG, &key);

	if (r == 0)
		r = futex_compare(t, of->uaddr, (uint32_t)of->val);
	if (r < 0)
		return r;
	w->bits = (uint32_t)BITS_ANY;
	w->addr = of->uaddr;
	futexq_join(w, &key);
	w->queue->robust |= of->val & FUTEX_WAITERS;
	return 0;
}

static int read_waitv(struct task *t, const struct call *c, struct futex_waitv *ret)
{
	size_t count = (size_t)(uint32_t)c->arg[1];
	struct futex_key key;

	if (gmem_read(t, c->arg[0], ret, count * sizeof(*ret)) < 0)
		return -EFAULT;
	for (size_t i = 0; i < count; i++)
		if (ret[i].flags & ~(uint32_t)(FUTEX_32 | FUTEX_PRIVATE_FLAG) ||
			!(ret[i].flags & FUTEX_32) || ret[i].__reserved)
			return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		int r = futexq_key(t, ret[i].uaddr, ret[i].flags & FUTEX_PRIVATE_FLAG, &key);

		if (r < 0)
			return r;
	}
	return 0;
}

static int waitv_deadline(struct task *t, const struct call *c, uint64_t *ret_ns)
{
	struct call like = {
		.arg = {0, FUTEX_WAIT_BITSET, 0, c->arg[3]}}; /* absolute, as that one */

	if (c->arg[3] && (int)c->arg[4] == CLOCK_REALTIME)
		like.arg[1] |= FUTEX_CLOCK_REALTIME;
	else if (c->arg[3] && (int)c->arg[4] != CLOCK_MONOTONIC)
		return -EINVAL;
	return futex_deadline(t, &like, ret_ns);
}

enum act enter_futex_waitv(struct task *t, struct call *c)
{
	static struct futex_waitv of[FUTEX_WAITV_MAX];
	uint32_t count = (uint32_t)c->arg[1];
	struct futex_waiter *waiters;
	uint64_t deadline;
	enum act act;
	int r = 0;

	if (futex_is_decided(t, c, &act)) {
		/* As the kernel: of those that were woken the last. */
		for (uint32_t i = 0; t->futex_woken && i < t->futex_count; i++)
			c->result = t->futex_waiters[i].queue ? c->result : (int64_t)i;
		return act;
	}
	if ((uint32_t)c->arg[2] || !count || count > FUTEX_WAITV_MAX || !c->arg[0])
		return call_done(c, -EINVAL);
	r = waitv_deadline(t, c, &deadline);
	if (r == 0)
		r = read_waitv(t, c, of);
	if (r < 0)
		return call_done(c, r);
	waiters = futexq_prepare(t, count);
	for (uint32_t i = 0; i < count && r == 0; i++)
		r = join_one(t, &waiters[i], &of[i]);
	if (r == 0)
		return futex_park(t, c, deadline);
	futex_cancel(t);
	return call_done(c, r);
}

/* ---- wake and requeue ---- */

int64_t futex_wake_some(const struct futex_key *key, int32_t count, uint32_t bits)
{
	struct futex_queue *q = futexq_find(key);
	struct futex_waiter *next;
	int64_t woken = 0;

	for (struct futex_waiter *w = q ? q->first : NULL; w; w = next) {
		next = w->next;
		if (w->kind != FUTEX_PLAIN)
			return -EINVAL;
		if (!(w->bits & bits))
			continue;
		futexq_wake(w, 0);
		/* One at least, as in the kernel. */
		if (++woken >= count)
			break;
	}
	return woken;
}

static int64_t wake(struct task *t, const struct call *c, uint32_t bits)
{
	struct futex_key key;
	int64_t woken;
	int r;

	if (!bits)
		return -EINVAL;
	r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r < 0)
		return r;
	woken = futex_wake_some(&key, (int32_t)c->arg[2], bits);
	/* Nobody was there: a streak of idle acts goes on. Ruby's sleep ends once it is *past* its
	 * time, and has such a wake in its rounds of waits that time out at once. */
	if (woken == 0)
		t->was_idle = true;
	return woken;
}

/* The operation of FUTEX_WAKE_OP: 0 or a negative errno. */
static int operate(uint32_t how, int32_t old, int32_t *ret_value)
{
	int32_t arg = (int32_t)(how << 8) >> 20;

	if (how >> 28 & FUTEX_OP_OPARG_SHIFT)
		arg = (int32_t)(1u << (arg & 31));
	switch (how >> 28 & 7) {
	case FUTEX_OP_SET:
		*ret_value = arg;
		return 0;
	case FUTEX_OP_ADD:
		*ret_value = (int32_t)((uint32_t)old + (uint32_t)arg);
		return 0;
	case FUTEX_OP_OR:
		*ret_value = old | arg;
		return 0;
	case FUTEX_OP_ANDN:
		*ret_value = old & ~arg;
		return 0;
	case FUTEX_OP_XOR:
		*ret_value = old ^ arg;
		return 0;
	default:
		return -ENOSYS;
	}
}

/* The comparison with what was there: 1, 0, or -ENOSYS. */
static int holds(uint32_t how, int32_t old)
{
	int32_t arg = (int32_t)(how << 20) >> 20;

	switch (how >> 24 & 15) {
	case FUTEX_OP_CMP_EQ:
		return old == arg;
	case FUTEX_OP_CMP_NE:
		return old != arg;
	case FUTEX_OP_CMP_LT:
		return old < arg;
	case FUTEX_OP_CMP_LE:
		return old <= arg;
	case FUTEX_OP_CMP_GT:
		return old > arg;
	case FUTEX_OP_CMP_GE:
		return old >= arg;
	default:
		return -ENOSYS;
	}
}

static int64_t wake_op(struct task *t, const struct call *c)
{
	uint32_t how = (uint32_t)c->arg[5];
	int r, is_true;
	struct futex_key key, key2;
	int64_t woken, more;
	int32_t old, value;

	r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r == 0)
		r = futexq_key(t, c->arg[4], is_private(c), &key2);
	if (r == 0 && gmem_read(t, c->arg[4], &old, sizeof(old)) < 0)
		r = -EFAULT;
	if (r == 0)
		r = operate(how, old, &value);
	if (r == 0 && gmem_write(t, c->arg[4], &value, sizeof(value)) < 0)
		r = -EFAULT;
	is_true = r == 0 ? holds(how, old) : r;
	if (is_true < 0)
		return is_true;
	woken = futex_wake_some(&key, (int32_t)c->arg[2], (uint32_t)BITS_ANY);
	if (woken < 0 || !is_true)
		return woken;
	more = futex_wake_some(&key2, (int32_t)c->arg[3], (uint32_t)BITS_ANY);
	return more < 0 ? more : woken + more;
}

static int64_t requeue(struct task *t, const struct call *c, bool compare)
{
	int32_t wakes = (int32_t)c->arg[2], moves = (int32_t)c->arg[3];
	struct futex_key from, to;
	struct futex_waiter *next;
	struct futex_queue *q;
	int64_t count = 0;
	int r;

	if (wakes < 0 || moves < 0)
		return -EINVAL;
	r = futexq_key(t, c->arg[0], is_private(c), &from);
	if (r == 0)
		r = futexq_key(t, c->arg[4], is_private(c), &to);
	if (r == 0 && compare)
		r = futex_compare(t, c->arg[0], (uint32_t)c->arg[5]);
	if (r < 0)
		return r;
	q = futexq_find(&from);
	for (struct futex_waiter *w = q ? q->first : NULL; w && count - wakes < moves; w = next) {
		next = w->next;
		if (w->kind != FUTEX_PLAIN)
			return -EINVAL;
		if (++count <= wakes) {
			futexq_wake(w, 0);
		} else if (!futexq_same(&from, &to)) { /* to itself: counted, and stays */
			bool robust = w->queue->robust;

			futexq_leave(w);
			/* Elsewhere its address is not known. */
			w->addr = w->task->mm == t->mm ? c->arg[4] : 0;
			futexq_join(w, &to);
			w->queue->robust |= robust;
		}
	}
	return count;
}

enum act enter_futex(struct task *t, struct call *c)
{
	int op = (int)c->arg[1], cmd = op & FUTEX_CMD_MASK;

	if ((op & FUTEX_CLOCK_REALTIME) && cmd != FUTEX_WAIT_BITSET &&
		cmd != FUTEX_WAIT_REQUEUE_PI && cmd != FUTEX_LOCK_PI2)
		return call_done(c, -ENOSYS);
	switch (cmd) {
	case FUTEX_WAIT:
		return wait_on(t, c, (uint32_t)BITS_ANY);
	case FUTEX_WAIT_BITSET:
		return wait_on(t, c, (uint32_t)c->arg[5]);
	case FUTEX_WAKE:
		return call_done(c, wake(t, c, (uint32_t)BITS_ANY));
	case FUTEX_WAKE_BITSET:
		return call_done(c, wake(t, c, (uint32_t)c->arg[5]));
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return call_done(c, requeue(t, c, cmd == FUTEX_CMP_REQUEUE));
	case FUTEX_WAKE_OP:
		return call_done(c, wake_op(t, c));
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(t, c, false);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(t, c, true);
	case FUTEX_UNLOCK_PI:
		return call_done(c, futex_unlock_pi(t, c));
	case FUTEX_WAIT_REQUEUE_PI:
		return futex_wait_requeue_pi(t, c);
	case FUTEX_CMP_REQUEUE_PI:
		return call_done(c, futex_requeue_pi(t, c));
	default:
		return call_done(c, -ENOSYS);
	}
}
