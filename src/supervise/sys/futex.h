/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the futex calls share. */
#ifndef SUPERVISE_SYS_FUTEX_H
#define SUPERVISE_SYS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "supervise/engine/call.h"
#include "supervise/sys/futexq.h"

/*
 * A wait that is tried again: true with *ret_act when that decides. Woken, timed out, or still
 * waiting.
 */
bool futex_is_decided(struct task *t, struct call *c, enum act *ret_act);
/* The absolute deadline of a call on the monotonic clock: 0 or a negative errno; UINT64_MAX for
 * none. */
MUST_CHECK int futex_deadline(struct task *t, const struct call *c, uint64_t *ret_ns);
/* Parks a task that has joined its queues; one whose deadline is over only gives way. */
enum act futex_park(struct task *t, struct call *c, uint64_t deadline_ns);
/* The word has this value: 0, -EAGAIN, -EFAULT. */
MUST_CHECK int futex_compare(struct task *t, uint64_t addr, uint32_t value);
/* How many plain waiters woke, or -EINVAL: somebody waits there for a lock. */
MUST_CHECK int64_t futex_wake_some(const struct futex_key *key, int32_t count, uint32_t bits);

/* FUTEX_LOCK_PI and its kin: futex_pi.c. */
enum act futex_lock_pi(struct task *t, struct call *c, bool is_try);
int64_t futex_unlock_pi(struct task *t, const struct call *c);
enum act futex_wait_requeue_pi(struct task *t, struct call *c);
int64_t futex_requeue_pi(struct task *t, const struct call *c);
/* The owner is gone: the next in line has the lock, and learns of it by FUTEX_OWNER_DIED. */
void futex_inherit(struct futex_queue *q);

#endif
