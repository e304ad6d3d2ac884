/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom: see cycle.h.
 *
 * A futex has no owner that the kernel knows, but the words around it often say one: a robust or PI
 * lock holds its owner's id itself, as does the word that pthread_join waits on, and a plain mutex
 * of glibc has it in the third word (struct __pthread_mutex_s: lock, count, owner). What is read
 * there counts only when it is the id of a living thread, of the same process where the futex is
 * private.
 */
#include "supervise/engine/cycle.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/task.h"
#include "wire/sysnr.h"

enum { OWNER_WORD = 2 };

static struct task *thread_of(const struct task *t, uint32_t word)
{
	struct task *found = task_find((pid_t)(word & FUTEX_TID_MASK));

	return found && (found->proc == t->proc || !(t->call.arg[1] & FUTEX_PRIVATE_FLAG)) ? found
											   : NULL;
}

struct task *cycle_owner(struct task *t)
{
	uint32_t words[OWNER_WORD + 1];
	struct task *owner;

	if (!t || t->state != TASK_PARKED || t->park.kind != PARK_FUTEX || t->call.nr != NR_futex ||
		gmem_read(t, t->call.arg[0], words, sizeof(words)) < 0)
		return NULL;
	owner = thread_of(t, words[0]);
	/* A plain mutex: 1 taken, 2 taken and waited for. */
	if (!owner && (words[0] == 1 || words[0] == 2))
		owner = thread_of(t, words[OWNER_WORD]);
	return owner;
}

/* A task of the ring that t leads to, or NULL. */
static struct task *ring_of(struct task *t)
{
	struct task *slow = t, *fast = t;

	while (fast && (fast = cycle_owner(fast)) && (fast = cycle_owner(fast))) {
		slow = cycle_owner(slow);
		if (slow == fast)
			return slow;
	}
	return NULL;
}

void cycle_text(char *ret_text, size_t size)
{
	struct task *ring = NULL, *q;
	size_t len;

	ret_text[0] = '\0';
	for (struct task *t = task_list; t && !ring; t = t->next)
		ring = ring_of(t);
	if (!ring)
		return;
	q = cycle_owner(ring);
	if (!q)
		return;
	len = (size_t)snprintf(ret_text, size, "cycle: task %u waits for a lock of task %u",
		ring->ordinal, q->ordinal);
	while (q != ring && len + 64 < size) {
		struct task *owner = cycle_owner(q);

		if (!owner)
			return;
		len += (size_t)snprintf(ret_text + len, size - len, ", task %u for one of task %u",
			q->ordinal, owner->ordinal);
		q = owner;
	}
}
