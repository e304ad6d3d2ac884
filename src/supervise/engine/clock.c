/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logical clock: see clock.h.
 *
 * Timers stand in a binary heap ordered by (deadline, order of arming), so what fires when is a
 * function of the guest's own calls.
 */
#include "supervise/engine/clock.h"

#include <stddef.h>

#include "base/mem.h"
#include "supervise/files/files.h"
#include "supervise/io/stamps.h"
#include "supervise/engine/vdso.h"

static uint64_t now_ns, epoch_offset_ns, step_ns, advances, seq, fired;
static struct timer **heap;
static uint32_t heap_len, heap_room;

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

static void place(struct timer *t, uint32_t slot)
{
	heap[slot - 1] = t;
	t->slot = slot;
}

static void sift_up(struct timer *t, uint32_t slot)
{
	while (slot > 1 && is_before(t, heap[slot / 2 - 1])) {
		place(heap[slot / 2 - 1], slot);
		slot /= 2;
	}
	place(t, slot);
}

static void sift_down(struct timer *t, uint32_t slot)
{
	for (;;) {
		uint32_t child = slot * 2;

		if (child > heap_len)
			break;
		if (child < heap_len && is_before(heap[child], heap[child - 1]))
			child++;
		if (!is_before(heap[child - 1], t))
			break;
		place(heap[child - 1], slot);
		slot = child;
	}
	place(t, slot);
}

void timer_arm(struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner)
{
	timer_disarm(t);
	t->deadline_ns = deadline_ns;
	t->seq = seq++;
	t->fire = fire;
	t->owner = owner;
	if (heap_len == heap_room) {
		heap_room = heap_room ? heap_room * 2 : 64;
		heap = mem_grow(heap, heap_room, sizeof(*heap));
	}
	heap_len++;
	sift_up(t, heap_len);
}

void timer_disarm(struct timer *t)
{
	uint32_t slot = t->slot;
	struct timer *last;

	if (!slot)
		return;
	t->slot = 0;
	last = heap[--heap_len];
	if (last == t)
		return;
	if (slot > 1 && is_before(last, heap[slot / 2 - 1]))
		sift_up(last, slot);
	else
		sift_down(last, slot);
}

int timer_next(uint64_t *ret_ns)
{
	if (!heap_len)
		return 0;
	*ret_ns = heap[0]->deadline_ns;
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
	while (heap_len && heap[0]->deadline_ns <= now_ns) {
		struct timer *t = heap[0];

		timer_disarm(t);
		fired++;
		t->fire(t);
	}
}
