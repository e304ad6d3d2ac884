/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a path component by component as a guest task, for paths that lead through /proc. */
#ifndef SUPERVISE_WALK_H
#define SUPERVISE_WALK_H

#include <stdbool.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

/*
 * An O_PATH descriptor of what `text` is to the task, from the directory `base` (AT_FDCWD with an
 * absolute text); -1 with errno as the kernel would give it. /proc/self and /proc/thread-self are
 * the task's own, and the magic links of a guest (exe, cwd, root, fd/N) lead where they lead.
 */
int walk_path(struct task *t, int base, const char *text, bool nofollow);

#endif
