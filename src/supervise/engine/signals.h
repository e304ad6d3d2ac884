/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: who is interrupted, what a guest sees of them. */
#ifndef SUPERVISE_SIGNALS_H
#define SUPERVISE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"

/* Parked tasks with a deliverable signal have their call put back, so that the kernel delivers it.
 */
void signals_wake_parked(void);
/* t stands at a signal-delivery stop: decides what is delivered (t->signal) and makes an
 * interrupted call look interrupted. */
void signals_deliver(struct task *t, int sig);
/* t took this signal from a queue, at a delivery or by a call: timers go on, and the siginfo loses
 * what is the host's and gets what a timer's has. True when it was changed. */
bool signals_taken(struct task *t, siginfo_t *info);
/* Whether kill(pid) by a sender of this process group means p. */
bool signals_is_target(const struct process *p, pid_t pid, pid_t sender_group);
/* sender sent SIGCONT to pid (as in kill(2)) with success: the stopped tasks go on. */
void signals_continued(const struct task *sender, pid_t pid);
/* t stands at a group stop. */
void signals_group_stop(struct task *t);
/* A process died: groups that are orphaned by that go on, if they were stopped. */
void signals_after_death(void);
/* A task of p left its group stop. */
void signals_group_continue(struct process *p);
/* A timer's signal for a process, as if the kernel had sent it. */
void signals_send_timer(struct process *p, int sig);

#endif
