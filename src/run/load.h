/* SPDX-License-Identifier: Apache-2.0 */
/* Changed host conditions for a second run: which CPU, and somebody else who wants it. */
#ifndef RUN_LOAD_H
#define RUN_LOAD_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

/* The CPU for a first run (where we are now) and another allowed one, the same when there is one.
 */
void load_cpus(int *ret_first, int *ret_second);

/*
 * A child that keeps a CPU busy in bursts for a few seconds at most, and dies with us. *ret is 0
 * when it could not be made: the run is then under less load, which is no error.
 */
void load_start(int cpu, pid_t *ret);
void load_stop(pid_t *child);
#define auto_load CLEANUP(load_stop)

#endif
