/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and sleeps: what the signal code needs of sys/time.c. */
#ifndef SUPERVISE_SYS_TIME_H
#define SUPERVISE_SYS_TIME_H

#include "supervise/engine/task.h"

/* A sleep of t ends early because a handler runs: tells the guest what remained. */
void sys_time_interrupted(struct task *t);
/* t's address space is about to go: counts the reads of its unfinished window. */
void sys_time_count_rest(struct task *t);

#endif
