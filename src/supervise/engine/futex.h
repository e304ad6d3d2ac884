/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes as the rest of the engine meets them: deaths, and waits that end otherwise. */
#ifndef SUPERVISE_FUTEX_H
#define SUPERVISE_FUTEX_H

#include <stddef.h>
#include <stdint.h>

#include "supervise/engine/task.h"

/* t's call is over or starts again: it waits in no queue any more. */
void futex_cancel(struct task *t);
/* A thread is gone, or has left its address space: the kernel has cleared its word (CLEARTID), and
 * one waiter wakes. */
void futex_clear_tid(const struct mm *mm, uint64_t addr);
/* t owns nothing any more: it died, left or executed another program. Then futex_settle. */
void futex_owner_died(const struct task *t);
/* Owners died, and the kernel has marked the words of their robust lists: wakes who waits for them,
 * and gives PI locks to whoever is first in line. */
void futex_settle(void);
/* What t waits for, for people: "futex 0x... held by task 2"; empty when it waits for none. */
void futex_describe(struct task *t, char *ret_text, size_t size);

#endif
