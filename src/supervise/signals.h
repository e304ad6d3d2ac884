/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: who is interrupted, what a guest sees of them. */
#ifndef SUPERVISE_SIGNALS_H
#define SUPERVISE_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/task.h"

/* Masks (bit sig - 1) of what is queued for t or its process, and of what t blocks; t is stopped. */
uint64_t signals_pending(const struct task *t);
uint64_t signals_blocked(const struct task *t);
/* Parked tasks with a deliverable signal have their call put back, so that the kernel delivers it. */
void signals_wake_parked(void);
/* t stands at a signal-delivery stop: decides what is delivered (t->signal) and makes an interrupted
 * call look interrupted. */
void signals_deliver(struct task *t, int sig);
/* Stopped tasks (job control) that were continued join the queue. True when one did. */
bool signals_wait_stopped(void);
/* t stands at a group stop. */
void signals_group_stop(struct task *t);
/* A timer's signal for a process, as if the kernel had sent it. */
void signals_send_timer(struct process *p, int sig);

#endif
