/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What deaths do to futexes: see engine/futex.h.
 *
 * Of robust lists the kernel itself marks the words, when the owner dies; it cannot wake who waits
 * in here. So the words that somebody waits for with FUTEX_WAITERS set, which is what such locks
 * do, are read after each death.
 */
#include "supervise/engine/futex.h"

#include <linux/futex.h>
#include <stdio.h>

#include "supervise/engine/gmem.h"
#include "supervise/sys/futex.h"

enum { BITS_ANY = -1 };

void futex_cancel(struct task *t)
{
	futexq_cancel(t);
}

static void wake_one(const struct futex_key *key)
{
	/* -EINVAL: somebody waits there for a lock, and is not woken. */
	if (futex_wake_some(key, 1, (uint32_t)BITS_ANY) < 0)
		return;
}

void futex_clear_tid(const struct mm *mm, uint64_t addr)
{
	/* Nobody is left in there to see it, and the kernel does not tell others. */
	if (mm->refs < 2 || !futexq_all())
		return;
	for (struct task *t = task_list; t; t = t->next) {
		struct futex_key key;

		if (t->mm != mm || (t->proc->leader_gone && t->tid == t->proc->pid))
			continue;
		if (futexq_key(t, addr, false, &key) == 0)
			wake_one(&key);
		return;
	}
}

/* Who was woken last has not run since: it will look at the word itself. */
static bool is_told(const struct futex_queue *q)
{
	for (const struct task *t = task_list; t && q->heir; t = t->next)
		if (t->ordinal == q->heir)
			return t->futex_woken;
	return false;
}

static void look(struct futex_queue *q)
{
	const struct futex_waiter *w = q->first;
	uint32_t word;

	if (w->addr && gmem_read(w->task, w->addr, &word, sizeof(word)) == 0 &&
		(word & FUTEX_OWNER_DIED) && !(word & FUTEX_TID_MASK) && !is_told(q))
		wake_one(&q->key);
}

void futex_owner_died(const struct task *t)
{
	for (struct futex_queue *q = futexq_all(); q; q = q->all_next)
		if (q->owner == t)
			q->owner = NULL;
}

void futex_settle(void)
{
	for (struct futex_queue *q = futexq_all(), *next; q; q = next) {
		next = q->all_next;
		if (!q->owner && q->first->kind == FUTEX_PI)
			futex_inherit(q);
		else if (q->robust)
			look(q);
	}
}

void futex_describe(struct task *t, char *ret_text, size_t size)
{
	const struct futex_waiter *w = futexq_waiter(t);
	uint32_t word = 0;
	size_t len;

	*ret_text = '\0';
	if (!w)
		return;
	if (!w->addr || gmem_read(t, w->addr, &word, sizeof(word)) < 0) {
		snprintf(ret_text, size, "a futex");
		return;
	}
	len = (size_t)snprintf(ret_text, size, "futex %#lx = %#x", (unsigned long)w->addr, word);
	if (w->kind == FUTEX_PI && w->queue->owner && len < size)
		snprintf(ret_text + len, size - len, ", a lock of task %u",
			w->queue->owner->ordinal);
}
