/* SPDX-License-Identifier: Apache-2.0 */
/* What the new process does between clone and the exec of the supervisor. */
#ifndef LAUNCH_INIT_H
#define LAUNCH_INIT_H

#include "base/attr.h"
#include "launch/plan.h"

/*
 * Waits for the launcher's go over the link, makes itself and its world what the plan says and
 * execs the supervisor with descriptors 0, 1, 2, 3 alone, an empty environment, a session of its
 * own, default signals and the cwd "/". An error goes over the link as LINK_ERROR.
 */
NORETURN void init_main(const struct plan *p, int link);

#endif
