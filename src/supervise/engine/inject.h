/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that the supervisor makes the guest execute. */
#ifndef SUPERVISE_INJECT_H
#define SUPERVISE_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

/*
 * At a seccomp stop (in an enter handler): the kernel executes this call in t's place; afterwards
 * the handler answers its own call as always (t->at_exit makes the loop do the right thing). The
 * number must be one that the filter allows or traces. The kernel's answer, or -ESRCH when the task
 * was killed meanwhile: then answer anything, nobody will see it.
 */
MUST_CHECK int64_t inject(struct task *t, int nr, const uint64_t arg[6]);
/*
 * At the exec event, the stubs being in place: the new program makes this call before its first
 * instruction, by way of the vDSO. As inject; -ENOSYS without stubs.
 */
MUST_CHECK int64_t inject_at_exec(struct task *t, int nr, const uint64_t arg[6]);
/* Maps the counter page into t's address space unless it is there: 0, or a negative errno. */
MUST_CHECK int inject_page(struct task *t);

#endif
