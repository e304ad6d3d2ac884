/* SPDX-License-Identifier: Apache-2.0 */
/* A task at its call: runs the row's handlers and makes the kernel do what they answered. */
#ifndef SUPERVISE_STOP_H
#define SUPERVISE_STOP_H

#include "supervise/engine/task.h"

/* t stands at the filter's stop. */
void stop_at_call(struct task *t);
/* The second half of it, for a task that was held before its call. */
void stop_answer(struct task *t);
/* t stands at the exit stop of a call whose handler asked for it. */
void stop_at_leave(struct task *t);
/* Runs the handler of t's call once more. */
enum act stop_try(struct task *t);
/* Acts on what a handler answered; also for the scheduler's retries of parked calls. */
void stop_complete(struct task *t, enum act act);
/* t was parked and may go on: at once when its answer is fixed, else when its turn comes. */
void stop_go_on(struct task *t, enum act act);
/* The turn of a task in the queue that was not answered (task.h): true when it can be resumed. */
bool stop_take_turn(struct task *t);
/* The guest's own registers at the stop of t's call, read when they are first needed. */
const struct regs *stop_regs(struct task *t);
/* Makes the parked call of t run again from the start, so that a pending signal is taken first. */
void stop_reissue(struct task *t);

#endif
