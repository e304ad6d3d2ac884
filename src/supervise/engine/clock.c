/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logical clock: see clock.h.
 *
 * Timers stand in two binary heaps, those that wake sleepers and passive ones, ordered by
 * (deadline, order of arming), so what fires when is a function of the guest's own calls.
 */
#include "supervise/engine/clock.h"

#include <stddef.h>

#include "base/mem.h"
#include "supervise/files/files.h"
#include "supervise/io/stamps.h"
#include "supervise/engine/vdso.h"

static uint64_t now_ns, epoch_offset_ns, step_ns, advances, seq, fired;
static struct heap {
	struct timer **at;
	uint32_t len, room;
} waking, passive;

void clock_init(uint64_t epoch_ns, uint64_t monotonic_ns, uint64_t step)
{
	now_ns = monotonic_ns;
	epoch_offset_ns = epoch_ns - monotonic_ns; /* modulo 2^64: an epoch before it wraps back */
	step_ns = step;
}

uint64_t clock_monotonic(void)
{
	return now_ns;
}

uint64_t clock_realtime(void)
{
	return now_ns + epoch_offset_ns;
}

uint64_t clock_to_realtime(uint64_t monotonic_ns)
{
	return monotonic_ns + epoch_offset_ns;
}

uint64_t clock_from_realtime(uint64_t realtime_ns)
{
	uint64_t start = epoch_offset_ns;

	return realtime_ns > start ? realtime_ns - start : 0;
}

int64_t clock_before_start(uint64_t realtime_ns)
{
	return (int64_t)(realtime_ns - epoch_offset_ns);
}

uint64_t clock_step(void)
{
	return step_ns;
}

uint64_t clock_advances(void)
{
	return advances;
}

static bool is_before(const struct timer *a, const struct timer *b)
{
	return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns : a->seq < b->seq;
}

static struct heap *heap_of(const struct timer *t)
{
	return t->passive ? &passive : &waking;
}

static void place(const struct heap *h, struct timer *t, uint32_t slot)
{
	h->at[slot - 1] = t;
	t->slot = slot;
}

static void sift_up(const struct heap *h, struct timer *t, uint32_t slot)
{
	while (slot > 1 && is_before(t, h->at[slot / 2 - 1])) {
		place(h, h->at[slot / 2 - 1], slot);
		slot /= 2;
	}
	place(h, t, slot);
}

static void sift_down(const struct heap *h, struct timer *t, uint32_t slot)
{
	for (;;) {
		uint32_t child = slot * 2;

		if (child > h->len)
			break;
		if (child < h->len && is_before(h->at[child], h->at[child - 1]))
			child++;
		if (!is_before(h->at[child - 1], t))
			break;
		place(h, h->at[child - 1], slot);
		slot = child;
	}
	place(h, t, slot);
}

static void arm(struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner,
	bool is_passive)
{
	struct heap *h;

	timer_disarm(t);
	t->deadline_ns = deadline_ns;
	t->seq = seq++;
	t->fire = fire;
	t->owner = owner;
	t->passive = is_passive;
	h = heap_of(t);
	if (h->len == h->room) {
		h->room = h->room ? h->room * 2 : 64;
		h->at = mem_grow(h->at, h->room, sizeof(struct timer *));
	}
	h->len++;
	sift_up(h, t, h->len);
}

void timer_arm(struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner)
{
	arm(t, deadline_ns, fire, owner, false);
}

void timer_arm_passive(
	struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner)
{
	arm(t, deadline_ns, fire, owner, true);
}

void timer_disarm(struct timer *t)
{
	struct heap *h = heap_of(t);
	uint32_t slot = t->slot;
	struct timer *last;

	if (!slot)
		return;
	t->slot = 0;
	last = h->at[--h->len];
	if (last == t)
		return;
	if (slot > 1 && is_before(last, h->at[slot / 2 - 1]))
		sift_up(h, last, slot);
	else
		sift_down(h, last, slot);
}

/* NULL: none is armed. */
static struct timer *first(void)
{
	if (!waking.len || !passive.len)
		return waking.len ? waking.at[0] : passive.len ? passive.at[0] : NULL;
	return is_before(passive.at[0], waking.at[0]) ? passive.at[0] : waking.at[0];
}

int timer_next(uint64_t *ret_ns)
{
	const struct timer *t = first();

	if (!t)
		return 0;
	*ret_ns = t->deadline_ns;
	return 1;
}

int timer_next_waking(uint64_t *ret_ns)
{
	if (!waking.len)
		return 0;
	*ret_ns = waking.at[0]->deadline_ns;
	return 1;
}

uint64_t timer_fired_count(void)
{
	return fired;
}

void clock_advance(uint64_t monotonic_ns)
{
	if (monotonic_ns > now_ns) {
		files_settle();
		now_ns = monotonic_ns;
		advances++;
		vdso_set_time();
		stamps_clock_moved();
	}
	for (struct timer *t; (t = first()) && t->deadline_ns <= now_ns;) {
		timer_disarm(t);
		fired++;
		t->fire(t);
	}
}
