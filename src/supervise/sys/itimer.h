/* SPDX-License-Identifier: Apache-2.0 */
/* setitimer and alarm: what the engine needs of sys/itimer.c. */
#ifndef SUPERVISE_SYS_ITIMER_H
#define SUPERVISE_SYS_ITIMER_H

#include "supervise/engine/task.h"

/* A task of p took SIGALRM from the queue: a periodic ITIMER_REAL that rested goes on. */
void itimer_taken(struct process *p);
/* p is gone. */
void itimer_stop(struct process *p);

#endif
