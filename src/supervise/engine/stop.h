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
/* Acts on what a handler answered; also for the scheduler's retries of parked calls. */
void stop_complete(struct task *t, enum act act);
/* Makes the parked call of t run again from the start, so that a pending signal is taken first. */
void stop_reissue(struct task *t);

#endif
