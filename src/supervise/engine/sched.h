/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs. One task runs at a time; the next is chosen from guest-visible state alone: a queue in
 * the order in which tasks became runnable, parked tasks tried in order of creation at each switch.
 */
#ifndef SUPERVISE_SCHED_H
#define SUPERVISE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"

/* To the tail of the queue; the task is stopped and its resume is prepared. */
void sched_enqueue(struct task *t);
/* The same for a task whose handler shall run when its turn comes. */
void sched_turn(struct task *t);
/* t has just been parked. */
void sched_parked(struct task *t);
/*
 * Fairness: with every SCHED_BUDGETth call that stops, a task gives way to whoever is in the queue.
 * After the call if its answer is fixed, else before its next one: a call that the kernel has yet
 * to do must not wait. The number is prime, so that a loop of some calls does not give way at the
 * same one of them each time (while it holds a lock, say).
 */
enum { SCHED_BUDGET = 997 };
void sched_budget(struct task *t, enum act act);
/* At a call's stop: true when others run first, as in choice.h. */
bool sched_gives_way_before(struct task *t);
/* Takes a task out of the queue if it is there (it died). */
void sched_remove(struct task *t);
/*
 * The next task to run, already dequeued; moves the clock when all wait for time. NULL when no
 * guest task is left, or when the run was ended (deadlock, 2^24 clock reads).
 */
struct task *sched_next(void);
/* Number of tasks in the queue. */
uint32_t sched_runnable(void);

/*
 * An enter handler is about to answer ACT_PARK. `park_until` fixes the absolute deadline at the
 * first try and keeps it at later ones; UINT64_MAX is never. Each returns ACT_PARK.
 */
enum act park_on(struct task *t, enum park_kind kind);
enum act park_on_until(struct task *t, enum park_kind kind, uint64_t deadline_ns);

/* The kernel's own codes for an interrupted call (include/linux/errno.h); they never reach a guest.
 */
enum { ERESTART_SYS = 512, ERESTART_NOINTR = 513, ERESTART_NOHAND = 514 };
/* The call ends with EINTR when a handler runs, SA_RESTART or not: signal(7). Without this it
 * restarts. */
void park_no_restart(struct task *t);
/* It starts again even after a handler without SA_RESTART. */
void park_always_restart(struct task *t);
/* It ends with EINTR though no handler ran: after a stop and SIGCONT too. */
void park_never_restart(struct task *t);

enum {
	SCHED_IDLE_CALL = 1,	    /* a yield, or a zero time-out poll that found nothing */
	SCHED_IDLE_READS = 10,	    /* a full window of clock reads */
	SCHED_WINDOW = 1024,	    /* clock reads between two stops */
	SCHED_WINDOW_ALONE = 16384, /* while no other task could run and no timer is armed */
};
/* t did nothing but wait for time; it goes to the tail of the queue after this call. */
void sched_idle(struct task *t, uint32_t weight);
/* Any other mediated call: somebody does something. The loop calls it. */
void sched_busy(void);
/*
 * A window of t's address space ran out, after so many clock reads in place: judges the streak,
 * says so at 20,000, ends the run at 2^24, and returns the next window. Reads of a window in which
 * somebody made another mediated call do not count for the streak.
 */
uint32_t sched_clock_reads(struct task *t, uint32_t reads);

/*
 * Before a park: a call with a signal mask of its own (ppoll, rt_sigsuspend, rt_sigtimedwait).
 * Signals not in `mask` end the wait, and then the kernel does the call itself: it finds the signal
 * pending at once and does with masks and handlers what it always does.
 */
void park_with_mask(struct task *t, uint64_t mask);

/* A signal may have become pending for somebody: parked tasks are looked at before the next switch.
 */
void sched_signals_changed(void);
/* How often they were looked at. */
uint64_t sched_signal_looks(void);
/* From now on signals come that no call sends (SIGIO): they are looked for at every switch. */
void sched_signals_unseen(void);
/* A child died or stopped: PARK_CHILD tasks are tried again. */
void sched_children_changed(void);
/* A parked task moved data (a part of a large write) though it may park again: the others are tried
 * once more before the switch. */
void sched_moved(void);
/* The clock moves to this instant though somebody runs: he gives way afterwards. */
void sched_let_time_pass(uint64_t to_ns);
/* A task became TASK_SPINNING: its memory is looked at before each switch. */
void sched_spinning(void);
/* The deadline of a parked task is over, or its wait was ended otherwise. */
void sched_wake(struct task *t);

#endif
