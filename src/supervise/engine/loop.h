/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop: resumes one task at a time and answers its stops until the first process is gone.
 */
#ifndef SUPERVISE_LOOP_H
#define SUPERVISE_LOOP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

/* SIGALRM and SIGUSR1 handlers; before the guest starts. */
void loop_init(void);
/* Runs everything until the guest's first process has exited: its wait status. -1: the run was
 * ended before (deadlock, a clock spin of 2^24 reads, a call that blocks for ever). */
int loop_run(struct process *first);

/* Waits for a report of this task alone, which may be here already: 0, or -1 when there is no such.
 */
MUST_CHECK int loop_wait_tid(pid_t tid, int *ret_status);
/* A handler has t in hands (NULL: none): should it be killed meanwhile, it is freed afterwards. */
void loop_hold(struct task *t);
/* t is about to be freed: it is not the running one any more. */
void loop_forget(const struct task *t);
/* During an injection: waits for t's next system call stop. -1: it was killed (handled later). */
MUST_CHECK int loop_wait_syscall_stop(struct task *t);
/* Handles a report of any task that is not the running one. */
void loop_report(pid_t tid, int status);
/* Waits in real time for a report of any task, at most until a host signal; handles it. False: it
 * was the signal. */
bool loop_wait_any(void);
/* SIGKILL for a whole process; returns 0 when every thread of it is gone, -1 when kill(2) refused.
 */
int loop_kill_process(struct process *p);
/* Ends the run: everything is killed, loop_run returns -1. */
void loop_end(void);
bool loop_is_ending(void);
/* Takes note of a tick and of what the host sent (SIGUSR1), after any wait that they interrupt. */
void loop_host_signals(void);

#endif
