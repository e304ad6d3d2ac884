/* SPDX-License-Identifier: Apache-2.0 */
/* Births and deaths of guest tasks and processes. */
#ifndef SUPERVISE_LIFE_H
#define SUPERVISE_LIFE_H

#include <stdbool.h>

#include "supervise/engine/task.h"

/* The process whose end is the run's end. */
void life_init(struct process *first);
bool life_is_over(void);
/* Its wait status; -1 while it lives. */
int life_status(void);

/* t stands at its fork, vfork or clone event. */
void life_birth(struct task *t, unsigned event);
/* The kernel reported that t is gone: frees it. */
/* Whom the ends of p's threads wake, all of them being told. */
void life_settle(struct process *p);
void life_task_gone(struct task *t, int status);
/* t was resumed in its exit call: true when it is a main thread that leaves before its group, for
 * which no report comes. */
bool life_leader_left(struct task *t);
/* t was resumed and a while has passed: the same when its own seccomp filter killed it. */
bool life_leader_killed(struct task *t);
/* From now on SIGKILL may come to a guest without a call that sends it. */
void life_kill_unclear(void);
/* Whoever waited in vfork for this child goes on. */
void life_release_vfork(struct task *child);
/* The task that an exec event under this id belongs to (an exec from a thread changes the id). NULL
 * when unknown. */
struct task *life_exec_renamed(pid_t tid);

#endif
