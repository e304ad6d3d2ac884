/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: a second wall that says where init and all guests may write. */
#ifndef LAUNCH_LANDLOCK_H
#define LAUNCH_LANDLOCK_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

/* True where the kernel has Landlock, with renames between directories (Linux 5.19). */
bool landlock_is_there(void);
/* Starts a ruleset; *ret_fd is -1 where the kernel has no Landlock. The caller closes it. */
MUST_CHECK int landlock_new(int *ret_fd, struct error *err);
/* Allows writing beneath path; a path that is not there is no error. A no-op when ruleset is -1. */
MUST_CHECK int landlock_allow(int ruleset, const char *path, struct error *err);
/* Allows writing beneath an open directory; a no-op when either is -1. */
MUST_CHECK int landlock_allow_tree(int ruleset, int fd, struct error *err);
/* Allows reopening this very file for writing (/dev/stdout); pipes and sockets need no rule. */
MUST_CHECK int landlock_allow_file(int ruleset, int fd, struct error *err);
/* Confines the caller and all that it will make; needs no_new_privs. */
MUST_CHECK int landlock_enforce(int ruleset, struct error *err);

#endif
