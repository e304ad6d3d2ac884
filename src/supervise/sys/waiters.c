/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that wait at an object of the kernel's ipc namespace: see waiters.h. */
#include "supervise/sys/waiters.h"

#include "supervise/engine/sched.h"

/* Places in park.key. */
enum { KIND, ID, DETAIL };

static const uint64_t any_id = UINT64_MAX;

enum act waiters_park(
	struct task *t, enum wait_kind kind, uint64_t id, uint64_t detail, uint64_t deadline_ns)
{
	t->park.key[KIND] = kind;
	t->park.key[ID] = id;
	t->park.key[DETAIL] = detail;
	return park_on_until(t, PARK_TIME, deadline_ns);
}

bool waiters_is_retry(const struct task *t)
{
	return t->park.kind && t->park.key[KIND];
}

static bool waits(const struct task *t, enum wait_kind kind, uint64_t id)
{
	return t->state == TASK_PARKED && t->park.kind == PARK_TIME && t->park.key[KIND] == kind &&
	       (id == any_id || t->park.key[ID] == id);
}

void waiters_wake(enum wait_kind kind, uint64_t id)
{
	for (uint64_t done = 0;;) {
		struct task *first = NULL;

		for (struct task *t = task_list; t; t = t->next)
			if (waits(t, kind, id) && t->park.seq > done &&
				(!first || t->park.seq < first->park.seq))
				first = t;
		if (!first)
			return;
		done = first->park.seq;
		sched_wake(first);
	}
}

void waiters_wake_all(enum wait_kind kind)
{
	waiters_wake(kind, any_id);
}

unsigned waiters_count(enum wait_kind kind, uint64_t id, uint64_t detail)
{
	unsigned count = 0;

	for (const struct task *t = task_list; t; t = t->next)
		count += waits(t, kind, id) && t->park.key[DETAIL] == detail;
	return count;
}
