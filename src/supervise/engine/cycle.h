/* SPDX-License-Identifier: Apache-2.0 */
/* In a deadlock: tasks that wait for each other in a ring. */
#ifndef SUPERVISE_CYCLE_H
#define SUPERVISE_CYCLE_H

#include <stddef.h>

struct task;

/* Whom t waits for at a futex, as far as the memory says it; NULL when it does not. */
struct task *cycle_owner(struct task *t);

/* "cycle: task 2 waits for a lock of task 3, task 3 for one of task 2", or "" when none is seen. */
void cycle_text(char *ret_text, size_t size);

#endif
