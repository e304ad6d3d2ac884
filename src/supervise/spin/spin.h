/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait without a call, by reading memory again and again.
 *
 * A watchdog in host time picks the running task when it made no stop for long; whether it is made
 * to give way is not up to that time, but to what it does (examine.h). One that only waits sleeps
 * from then on until a byte that its loop reads has changed: where that is looked at, and what it
 * sees when it goes on, is the same however long it went round before. One that waits and counts is
 * made to give way after guest CPU time, which is not the same in two runs: reported as
 * impure_spin. One that computes is left alone; should it compute until a timer comes due, it does
 * so for ever, unless the run was told to let that happen (spin_init).
 */
#ifndef SUPERVISE_SPIN_H
#define SUPERVISE_SPIN_H

#include <stdbool.h>
#include <stddef.h>

#include "supervise/engine/task.h"

/* after_ns: guest CPU time without a stop after which the earliest timer comes due; 0: never. */
void spin_init(uint64_t after_ns);
/* Another task begins to run, or the running one made a stop of its own: the watch starts over. */
void spin_restart(void);
void spin_stopped(bool at_call);
/* A tick of the host while t runs in user mode: it may be interrupted for an examination. */
void spin_tick(struct task *t);
/* An event stop of t: true if it is the interruption that spin_tick asked for. Then it was
 * examined, and t may have another state, or be gone. */
bool spin_on_stop(struct task *t);
/*
 * t, which is chosen to run, slept in a loop until now: a few steps tell whether it goes back to
 * sleep at once, which the watchdog would find out much later. True: it ran until its next stop.
 */
bool spin_retry(struct task *t);
/*
 * t stands at a call's stop. False: go on. True: its interruption may still be under way, and the
 * call was put back so that it comes first.
 */
bool spin_at_call(struct task *t);
/* A task in TASK_SPINNING: what it waits for may have happened. */
bool spin_is_over(struct task *t);
/* What it waits for, in words: for the report of a deadlock. */
void spin_describe(const struct task *t, char *ret_text, size_t size);
/* Frees what is kept for t. */
void spin_forget(struct task *t);

#endif
