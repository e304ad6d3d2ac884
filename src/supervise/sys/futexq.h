/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues behind futexes: which words tasks wait for, in which order.
 *
 * A key names memory as the kernel's does: private operations by (address space, address); shared
 * ones on private memory likewise, but apart from the private ones; shared mappings by (device,
 * inode, offset), wherever they are mapped.
 */
#ifndef SUPERVISE_FUTEXQ_H
#define SUPERVISE_FUTEXQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

struct futex_key {
	uint64_t part[3];
};

enum futex_kind {
	FUTEX_PLAIN,
	FUTEX_TO_PI, /* FUTEX_WAIT_REQUEUE_PI: still at its first word */
	FUTEX_PI,    /* for the lock */
};

/* A task in a queue; futex_waitv has several of one task. */
struct futex_waiter {
	struct task *task;
	struct futex_queue *queue; /* NULL: taken out */
	struct futex_waiter *next, *before;
	enum futex_kind kind;
	uint32_t bits;	      /* which wakes concern it */
	uint64_t addr;	      /* of the word, in its address space */
	uint64_t target_addr; /* FUTEX_TO_PI: the lock */
	struct futex_key target;
};

struct futex_queue {
	struct futex_key key;
	struct futex_waiter *first, *last;
	struct task *owner; /* of the lock, when FUTEX_PI tasks wait for it */
	bool robust;   /* somebody waits with FUTEX_WAITERS set in the word: its owner may die */
	uint32_t heir; /* ordinal of the task that was woken last */
	struct futex_queue *next;		   /* of one bucket */
	struct futex_queue *all_next, *all_before; /* in order of creation: deaths look here */
};

/* The key of a word in t's address space: 0, -EINVAL, -EFAULT. */
MUST_CHECK int futexq_key(
	struct task *t, uint64_t addr, bool is_private, struct futex_key *ret_key);
bool futexq_same(const struct futex_key *a, const struct futex_key *b);
/* NULL when nobody waits there. */
struct futex_queue *futexq_find(const struct futex_key *key);
/* All of them in order of creation: the first, or NULL. */
struct futex_queue *futexq_all(void);

/* Room for so many waiters of t, which waits nowhere: zeroed but for the task. */
struct futex_waiter *futexq_prepare(struct task *t, uint32_t count);
/* Joins the tail of the key's queue. */
void futexq_join(struct futex_waiter *w, const struct futex_key *key);
/* Leaves its queue, which is freed when nobody is left. */
void futexq_leave(struct futex_waiter *w);
/* Takes w out and lets its task go on with this answer (unless another one woke it already). */
void futexq_wake(struct futex_waiter *w, int64_t answer);
/* t waits for nothing any more. */
void futexq_cancel(struct task *t);
/* Where t waits, or NULL; of several words the first. */
struct futex_waiter *futexq_waiter(const struct task *t);

#endif
