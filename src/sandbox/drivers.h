/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in drivers, one a file; registry.c lists them. docs/howto/backend tells how to add one.
 */
#ifndef SANDBOX_DRIVERS_H
#define SANDBOX_DRIVERS_H

#include "sandbox/sandbox.h"

extern const struct sandbox_driver driver_native, driver_worktree;

#endif
