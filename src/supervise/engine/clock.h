/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logical clock and everything that is due on it. Time moves only through clock_advance, while
 * every guest task is stopped. All times are nanoseconds of the guest's CLOCK_MONOTONIC.
 */
#ifndef SUPERVISE_CLOCK_H
#define SUPERVISE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/* Owned by its user (embedded); zero-initialised means not armed. */
struct timer {
	uint64_t deadline_ns;
	uint64_t seq;
	void (*fire)(struct timer *);
	void *owner;
	uint32_t slot; /* 1 + place in its heap; 0: not armed */
	bool passive;  /* which heap: set by timer_arm_passive */
};

void clock_init(uint64_t epoch_ns, uint64_t monotonic_ns, uint64_t step_ns);
uint64_t clock_monotonic(void);
uint64_t clock_realtime(void);
/* CLOCK_REALTIME that belongs to a CLOCK_MONOTONIC instant and back (saturating). */
uint64_t clock_to_realtime(uint64_t monotonic_ns);
uint64_t clock_from_realtime(uint64_t realtime_ns);
/* Not saturating: negative before the guest's CLOCK_MONOTONIC began. */
int64_t clock_before_start(uint64_t realtime_ns);
/* --clock-step-ns: 0 when reads do not move the clock. */
uint64_t clock_step(void);
/* Moves the clock to this instant (never back), tells every address space, fires what is due. */
void clock_advance(uint64_t monotonic_ns);
/* How often the clock moved. */
uint64_t clock_advances(void);

/* Arms (or re-arms) at an absolute instant; equal deadlines fire in the order of arming. */
void timer_arm(struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner);
/*
 * The same for a timer that counts CPU time: it fires when the clock passes its deadline, but where
 * every task sleeps the clock does not move for it (timer_next_waking).
 */
void timer_arm_passive(
	struct timer *t, uint64_t deadline_ns, void (*fire)(struct timer *), void *owner);
void timer_disarm(struct timer *t);
static inline bool timer_is_armed(const struct timer *t)
{
	return t->slot != 0;
}
/* The earliest deadline: 1 and *ret_ns, or 0 when nothing is armed. */
int timer_next(uint64_t *ret_ns);
/* The same without passive timers: what a world that sleeps waits for. */
int timer_next_waking(uint64_t *ret_ns);
uint64_t timer_fired_count(void);

#endif
