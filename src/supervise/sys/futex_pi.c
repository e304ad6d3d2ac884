/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futexes that are locks with an owner: FUTEX_LOCK_PI and its kin.
 *
 * How it works: the word holds the owner's thread id, FUTEX_WAITERS when somebody waits in here,
 * and FUTEX_OWNER_DIED when one has died with it. A queue of such waiters knows its owner; an
 * unlock hands word and lock to the first of them. Priorities are all the same here, so nobody
 * inherits one, and the order is that of coming. States that only a broken program makes are
 * answered as in kernel/futex/pi.c (its table of valid and invalid ones).
 */
#include "supervise/sys/futex.h"

#include <errno.h>
#include <linux/futex.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/sched.h"

enum { BITS_ANY = -1, CHAIN_MAX = 1024 /* as the kernel's longest chain of locks */ };

static bool is_private(const struct call *c)
{
	return c->arg[1] & FUTEX_PRIVATE_FLAG;
}

/* A thread that can own a lock; a main thread that left cannot. */
static struct task *owner_of(uint32_t word)
{
	struct task *t = task_find((pid_t)(word & FUTEX_TID_MASK));

	return t && t->proc->leader_gone && t->tid == t->proc->pid ? NULL : t;
}

/* Waiting for owner, would t wait for itself? */
static bool is_circle(const struct task *owner, const struct task *t)
{
	for (int i = 0; owner && i < CHAIN_MAX; i++) {
		const struct futex_waiter *w = futexq_waiter(owner);

		if (owner == t)
			return true;
		owner = w && w->kind == FUTEX_PI ? w->queue->owner : NULL;
	}
	return owner != NULL;
}

/* Others wait already: is the word what it must be then? */
static int attach(const struct futex_queue *q, uint32_t word)
{
	uint32_t tid = word & FUTEX_TID_MASK;

	if (q->first->kind != FUTEX_PI)
		return -EINVAL;
	if ((word & FUTEX_OWNER_DIED) && !tid)
		return 0;
	return q->owner && (pid_t)tid == q->owner->tid ? 0 : -EINVAL;
}

/*
 * Tries to take the lock for `who`; the word is at addr in t's address space. 1: it has it; 0: it
 * has to wait for *ret_owner; else a negative errno.
 */
static int take(struct task *t, uint64_t addr, const struct futex_key *key, struct task *who,
	bool set_waiters, struct task **ret_owner)
{
	const struct futex_queue *q = futexq_find(key);
	uint32_t word, value;
	int r;

	if (gmem_read(t, addr, &word, sizeof(word)) < 0)
		return -EFAULT;
	if ((pid_t)(word & FUTEX_TID_MASK) == who->tid)
		return -EDEADLK;
	if (q) {
		r = attach(q, word);
		*ret_owner = q->owner;
		return r;
	}
	value = word | FUTEX_WAITERS;
	if (!(word & FUTEX_TID_MASK))
		value = (word & FUTEX_OWNER_DIED) | (uint32_t)who->tid |
			(set_waiters ? FUTEX_WAITERS : 0);
	if (gmem_write(t, addr, &value, sizeof(value)) < 0)
		return -EFAULT;
	if (!(word & FUTEX_TID_MASK))
		return 1;
	*ret_owner = owner_of(word);
	return *ret_owner ? 0 : -ESRCH;
}

static void join(
	struct futex_waiter *w, const struct futex_key *key, uint64_t addr, struct task *owner)
{
	w->kind = FUTEX_PI;
	w->bits = (uint32_t)BITS_ANY;
	w->addr = addr;
	futexq_join(w, key);
	w->queue->owner = owner;
}

enum act futex_lock_pi(struct task *t, struct call *c, bool is_try)
{
	struct task *owner = NULL;
	uint64_t deadline = UINT64_MAX;
	struct futex_key key;
	enum act act;
	int r = 0;

	if (futex_is_decided(t, c, &act))
		return act;
	if (!is_try)
		r = futex_deadline(t, c, &deadline);
	if (r == 0)
		r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r == 0)
		r = take(t, c->arg[0], &key, t, false, &owner);
	if (r != 0)
		return call_done(c, r > 0 ? 0 : r);
	if (is_try)
		return call_done(c, -EAGAIN);
	if (is_circle(owner, t))
		return call_done(c, -EDEADLK);
	join(futexq_prepare(t, 1), &key, c->arg[0], owner);
	park_always_restart(t);
	return futex_park(t, c, deadline);
}

/* Gives the lock to the first in line. */
static int hand_over(struct futex_queue *q, uint32_t mark)
{
	struct futex_waiter *w = q->first;
	uint32_t word = FUTEX_WAITERS | mark | (uint32_t)w->task->tid;

	if (gmem_write(w->task, w->addr, &word, sizeof(word)) < 0)
		return -EFAULT;
	q->owner = w->task;
	futexq_wake(w, 0);
	return 0;
}

void futex_inherit(struct futex_queue *q)
{
	/* Memory that a waiter took away from itself cannot be marked: natively it is not told
	 * either. */
	if (hand_over(q, FUTEX_OWNER_DIED) < 0)
		return;
}

int64_t futex_unlock_pi(struct task *t, const struct call *c)
{
	const uint32_t free_word = 0;
	struct futex_queue *q;
	struct futex_key key;
	uint32_t word;
	int r;

	if (gmem_read(t, c->arg[0], &word, sizeof(word)) < 0)
		return -EFAULT;
	if ((pid_t)(word & FUTEX_TID_MASK) != t->tid)
		return -EPERM;
	r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r < 0)
		return r;
	q = futexq_find(&key);
	if (q && (q->first->kind != FUTEX_PI || q->owner != t))
		return -EINVAL;
	if (q)
		return hand_over(q, 0);
	return gmem_write(t, c->arg[0], &free_word, sizeof(free_word));
}

/* ---- from a condition to a lock ---- */

enum act futex_wait_requeue_pi(struct task *t, struct call *c)
{
	struct futex_key key, target;
	struct futex_waiter *w;
	uint64_t deadline;
	enum act act;
	int r;

	if (futex_is_decided(t, c, &act))
		return act;
	r = futex_deadline(t, c, &deadline);
	if (r == 0 && c->arg[0] == c->arg[4])
		r = -EINVAL;
	if (r == 0)
		r = futexq_key(t, c->arg[4], is_private(c), &target);
	if (r == 0)
		r = futexq_key(t, c->arg[0], is_private(c), &key);
	if (r == 0)
		r = futex_compare(t, c->arg[0], (uint32_t)c->arg[2]);
	if (r == 0 && futexq_same(&key, &target))
		r = -EINVAL;
	if (r < 0)
		return call_done(c, r);
	w = futexq_prepare(t, 1);
	w->kind = FUTEX_TO_PI;
	w->bits = (uint32_t)BITS_ANY;
	w->addr = c->arg[0];
	w->target = target;
	w->target_addr = c->arg[4];
	futexq_join(w, &key);
	park_always_restart(t);
	return futex_park(t, c, deadline);
}

/* Moves a waiter to the lock it named: it has the lock (1), waits for it (0), or an error. */
static int move(struct task *t, uint64_t addr, struct futex_waiter *w,
	const struct futex_key *target, bool set_waiters)
{
	struct task *who = w->task, *owner = NULL;
	int r;

	if (w->kind != FUTEX_TO_PI || !futexq_same(&w->target, target))
		return -EINVAL;
	r = take(t, addr, target, who, set_waiters, &owner);
	if (r == 0 && is_circle(owner, who))
		r = -EDEADLK;
	if (r == 1)
		futexq_wake(w, 0);
	if (r != 0)
		return r;
	futexq_leave(w);
	join(w, target, w->target_addr, owner);
	/* From here on a handler ends the call: it cannot start again. */
	who->park.on_signal = -EAGAIN;
	return 0;
}

int64_t futex_requeue_pi(struct task *t, const struct call *c)
{
	int32_t wakes = (int32_t)c->arg[2], moves = (int32_t)c->arg[3];
	struct futex_key from, to;
	struct futex_waiter *next;
	struct futex_queue *q;
	int64_t count = 0;
	int r;

	if (wakes < 0 || moves < 0 || c->arg[0] == c->arg[4] || wakes != 1)
		return -EINVAL;
	r = futexq_key(t, c->arg[0], is_private(c), &from);
	if (r == 0)
		r = futexq_key(t, c->arg[4], is_private(c), &to);
	if (r == 0 && futexq_same(&from, &to))
		r = -EINVAL;
	if (r == 0)
		r = futex_compare(t, c->arg[0], (uint32_t)c->arg[5]);
	if (r < 0)
		return r;
	q = futexq_find(&from);
	/* One more than asked for while nobody has got the lock, as in the kernel. */
	for (struct futex_waiter *w = q ? q->first : NULL; w; w = next) {
		next = w->next;
		if (count > 0 && count - wakes >= moves)
			break;
		r = move(t, c->arg[4], w, &to, count == 0 && moves > 0);
		if (r < 0)
			return r;
		count++;
	}
	return count;
}
