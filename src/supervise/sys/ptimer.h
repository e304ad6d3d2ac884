/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX timers: what the engine needs of sys/ptimer.c. */
#ifndef SUPERVISE_SYS_PTIMER_H
#define SUPERVISE_SYS_PTIMER_H

#include <signal.h>
#include <stdbool.h>

#include "supervise/engine/task.h"

/* It is that of a timer that was deleted or set anew meanwhile: to be dropped. */
bool ptimer_is_over(struct process *p, const siginfo_t *info);
/* A task of p took this signal from the queue: its timer goes on. True: the siginfo was completed.
 */
bool ptimer_taken(struct process *p, siginfo_t *info);
/* Every task sleeps: timers whose signal was ignored, and is not any more, wake them again. */
void ptimer_before_sleep(void);
/* p is gone, or runs a new program. */
void ptimer_stop(struct process *p);

#endif
