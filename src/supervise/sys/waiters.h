/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait at an object of the kernel's ipc namespace. Nothing but a call of another guest
 * ends such a wait, so nobody is tried in vain: who changes an object wakes its waiters, in the
 * order in which they came, within its own call, as the kernel hands over.
 */
#ifndef SUPERVISE_SYS_WAITERS_H
#define SUPERVISE_SYS_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/call.h"
#include "supervise/engine/task.h"

enum wait_kind {
	WAIT_SEMAPHORE = 1,
	WAIT_MSG_SEND,
	WAIT_MSG_RECEIVE,
	WAIT_MQ_SEND,
	WAIT_MQ_RECEIVE,
};

/* Parks t there; UINT64_MAX is no limit. `detail` is for waiters_count. */
enum act waiters_park(
	struct task *t, enum wait_kind kind, uint64_t id, uint64_t detail, uint64_t deadline_ns);
/* t's call was parked there: this is another try. */
bool waiters_is_retry(const struct task *t);
/* Tries their calls again; who still cannot go on keeps its place. */
void waiters_wake(enum wait_kind kind, uint64_t id);
/* The same at every object of this kind. */
void waiters_wake_all(enum wait_kind kind);
unsigned waiters_count(enum wait_kind kind, uint64_t id, uint64_t detail);

#endif
