/* SPDX-License-Identifier: Apache-2.0 */
/* What init may do: two capabilities over its own user namespace, and no way to gain more. */
#ifndef LAUNCH_CAPS_H
#define LAUNCH_CAPS_H

#include "base/attr.h"
#include "base/error.h"

/*
 * Keeps CAP_SYS_PTRACE (a non-dumpable init cannot seize its child without it) and
 * CAP_CHECKPOINT_RESTORE (fixes the first guest pid) through exec as ambient ones, drops all
 * others, empties the bounding set and sets no_new_privs.
 */
MUST_CHECK int caps_drop(struct error *err);

#endif
