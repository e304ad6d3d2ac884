/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that can block: what the scheduler needs of sys_rw.c, sys_poll.c and their kin. */
#ifndef SUPERVISE_IO_H
#define SUPERVISE_IO_H

#include <stdbool.h>

#include "supervise/task.h"

/* Remembers which objects lead outside (the run's own 0, 1, 2). Called once, before the guest starts. */
void io_init(bool stdin_is_external, bool tty);
/*
 * Nothing in the sandbox can run and no timer is armed: waits in real time until something that a
 * parked task with park.external waits for is ready, or a host signal arrives. False when no parked
 * task waits for the outside.
 */
bool io_wait_external(void);

#endif
