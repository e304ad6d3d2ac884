/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parked tasks a change of a descriptor concerns, so that a switch looks at those alone.
 *
 * How it works: an epoll instance of the supervisor watches the open file descriptions that parked
 * tasks wait for, once each. The duplicate that it was told of is closed at once: the entry stays
 * for as long as a guest has the description open, and holds nothing up. An entry is named by file
 * and number, so every task has numbers of its own. What comes is a hint: the task's handler
 * decides. A task that could not be watched for is tried at every switch.
 */
#ifndef SUPERVISE_FDWAIT_H
#define SUPERVISE_FDWAIT_H

#include <stddef.h>

#include "supervise/engine/task.h"

/* A handler is about to run for t: what an earlier try waited for is forgotten. */
void fdwait_begin(struct task *t);
/* The handler is about to park t until fd (a duplicate of a guest's, to be closed within the stop)
 * is ready for these events of poll(2). May be called for several. */
void fdwait_add(struct task *t, int fd, short events);
/* This park must not rely on it after all. */
void fdwait_never(struct task *t);
/* Tasks parked with PARK_FD whose descriptors became ready, in order of creation; how many. The
 * array is good until the next call. */
size_t fdwait_take(struct task ***ret_tasks);
/* t is about to be freed. */
void fdwait_forget(struct task *t);

#endif
