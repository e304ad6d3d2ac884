/* SPDX-License-Identifier: Apache-2.0 */
/* The queues behind futexes: see futexq.h. */
#include "supervise/sys/futexq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "supervise/engine/sched.h"

#define KEY_PRIVATE (1ull << 63)

enum { BUCKETS = 512 };

static struct futex_queue *buckets[BUCKETS];
static struct futex_queue *all_first, *all_last;

/* ---- keys ---- */

struct mapping {
	uint64_t start, offset, device, inode;
	bool shared;
};

/* PROCMAP_QUERY of <linux/fs.h>, since Linux 6.11. */
struct map_query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)
enum { MAP_QUERY_SHARED = 8 };

/* 1, 0: nothing is mapped there; -1: this kernel cannot tell. */
static int ask_mapping(int maps, uint64_t addr, struct mapping *ret)
{
	struct map_query q = {.size = sizeof(q), .addr = addr};

	if (ioctl(maps, MAP_QUERY, &q) < 0)
		return errno == ENOENT ? 0 : -1;
	*ret = (struct mapping){.start = q.start,
		.offset = q.offset,
		.device = makedev(q.dev_major, q.dev_minor),
		.inode = q.inode,
		.shared = q.vma_flags & MAP_QUERY_SHARED};
	return 1;
}

static int read_mapping(int maps, uint64_t addr, struct mapping *ret)
{
	char line[4352];
	FILE *f = fdopen(dup(maps), "r");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long start, end, offset, inode;
		unsigned major_nr, minor_nr;
		char perms[5];

		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &start, &end, perms, &offset,
			    &major_nr, &minor_nr, &inode) != 7 ||
			addr < start || addr >= end)
			continue;
		*ret = (struct mapping){
			start, offset, makedev(major_nr, minor_nr), inode, perms[3] == 's'};
		found = 1;
	}
	if (f)
		fclose(f);
	return found;
}

static int find_mapping(const struct task *t, uint64_t addr, struct mapping *ret)
{
	autoclose int maps = -1;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	if (maps < 0)
		return 0;
	r = ask_mapping(maps, addr, ret);
	return r < 0 ? read_mapping(maps, addr, ret) : r;
}

int futexq_key(struct task *t, uint64_t addr, bool is_private, struct futex_key *ret_key)
{
	struct mapping m;

	if (addr % sizeof(uint32_t))
		return -EINVAL;
	if ((int64_t)addr < 0) /* the kernel's half */
		return -EFAULT;
	*ret_key = (struct futex_key){{KEY_PRIVATE | t->mm->ordinal, addr, !is_private}};
	if (is_private)
		return 0;
	if (!find_mapping(t, addr, &m))
		return -EFAULT;
	if (m.shared)
		*ret_key = (struct futex_key){{m.device, m.inode, addr - m.start + m.offset}};
	return 0;
}

bool futexq_same(const struct futex_key *a, const struct futex_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- queues ---- */

static struct futex_queue **bucket(const struct futex_key *key)
{
	uint64_t h = key->part[0] * 31 + key->part[1];

	h = (h * 31 + key->part[2]) * 0x9e3779b97f4a7c15;
	return &buckets[(h >> 32) % BUCKETS];
}

struct futex_queue *futexq_find(const struct futex_key *key)
{
	for (struct futex_queue *q = *bucket(key); q; q = q->next)
		if (futexq_same(&q->key, key))
			return q;
	return NULL;
}

struct futex_queue *futexq_all(void)
{
	return all_first;
}

static struct futex_queue *queue_new(const struct futex_key *key)
{
	struct futex_queue *q = mem_alloc(sizeof(*q)), **b = bucket(key);

	q->key = *key;
	q->next = *b;
	*b = q;
	q->all_before = all_last;
	if (all_last)
		all_last->all_next = q;
	else
		all_first = q;
	all_last = q;
	return q;
}

static void queue_free(struct futex_queue *q)
{
	struct futex_queue **b = bucket(&q->key);

	while (*b != q)
		b = &(*b)->next;
	*b = q->next;
	if (q->all_before)
		q->all_before->all_next = q->all_next;
	else
		all_first = q->all_next;
	if (q->all_next)
		q->all_next->all_before = q->all_before;
	else
		all_last = q->all_before;
	free(q);
}

struct futex_waiter *futexq_prepare(struct task *t, uint32_t count)
{
	futexq_cancel(t);
	if (count > t->futex_room) {
		t->futex_waiters = mem_grow(t->futex_waiters, count, sizeof(*t->futex_waiters));
		t->futex_room = count;
	}
	memset(t->futex_waiters, 0, count * sizeof(*t->futex_waiters));
	for (uint32_t i = 0; i < count; i++)
		t->futex_waiters[i].task = t;
	t->futex_count = count;
	return t->futex_waiters;
}

void futexq_join(struct futex_waiter *w, const struct futex_key *key)
{
	struct futex_queue *q = futexq_find(key);

	if (!q)
		q = queue_new(key);
	w->queue = q;
	w->next = NULL;
	w->before = q->last;
	if (q->last)
		q->last->next = w;
	else
		q->first = w;
	q->last = w;
}

void futexq_leave(struct futex_waiter *w)
{
	struct futex_queue *q = w->queue;

	if (!q)
		return;
	if (w->before)
		w->before->next = w->next;
	else
		q->first = w->next;
	if (w->next)
		w->next->before = w->before;
	else
		q->last = w->before;
	w->queue = NULL;
	w->next = w->before = NULL;
	if (!q->first)
		queue_free(q);
}

void futexq_wake(struct futex_waiter *w, int64_t answer)
{
	struct task *t = w->task;

	w->queue->heir = t->ordinal;
	futexq_leave(w);
	t->futex_woken = true;
	t->futex_answer = answer;
	if (t->state == TASK_PARKED)
		sched_turn(t);
}

void futexq_cancel(struct task *t)
{
	for (uint32_t i = 0; i < t->futex_count; i++)
		futexq_leave(&t->futex_waiters[i]);
	t->futex_count = 0;
	t->futex_woken = false;
}

struct futex_waiter *futexq_waiter(const struct task *t)
{
	for (uint32_t i = 0; i < t->futex_count; i++)
		if (t->futex_waiters[i].queue)
			return &t->futex_waiters[i];
	return NULL;
}
