/* SPDX-License-Identifier: Apache-2.0 */
/* Pending signals of a stopped task, for calls that carry a signal mask and for signalfd. */
#ifndef SUPERVISE_SIGMASK_H
#define SUPERVISE_SIGMASK_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"

/* Signals queued for the thread itself, or (shared) for its process. */
uint64_t sigmask_queued(const struct task *t, bool shared);
/* Signals queued for the task or its process, as a mask (bit signal - 1). */
uint64_t sigmask_pending(const struct task *t);
/* Signals that the task holds back; all of them when it is gone. */
uint64_t sigmask_blocked(const struct task *t);
/* A signal that does something (a handler, or a default that is not to ignore it) is pending and
 * open under this mask: the kernel would end a wait with EINTR. */
bool sigmask_interrupts(const struct task *t, uint64_t mask);
/* The task blocks sig, or its process ignores it by choice. */
bool sigmask_is_off(const struct task *t, int sig);
/* One of these pending signals, which the call that t waits in lets through, ends the wait: not
 * those that are dropped on delivery. */
bool sigmask_ends_wait(const struct task *t, uint64_t sigs);
/* Its process has a handler for sig. */
bool sigmask_catches(const struct task *t, int sig);
/* Sent to t now, sig would be dropped: it is ignored, and not blocked. */
bool sigmask_ignores(const struct task *t, int sig);

#endif
