/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes, emulated whole: what task deaths need of sys/futex.c. */
#ifndef SUPERVISE_FUTEX_H
#define SUPERVISE_FUTEX_H

#include <stdint.h>

#include "supervise/engine/task.h"

/* Wakes up to `count` waiters of a word in mm's private memory (CLONE_CHILD_CLEARTID). */
void futex_wake_address(const struct mm *mm, uint64_t addr, uint32_t count);
/* Some task died: waiters whose word the kernel marked FUTEX_OWNER_DIED go on. */
void futex_owner_died(void);

#endif
