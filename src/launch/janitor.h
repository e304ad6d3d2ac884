/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process that outlives a host killed by kill -9 and removes the control groups it made:
 * the kernel ends everything else of a run by itself, but a group stays until somebody removes it.
 */
#ifndef LAUNCH_JANITOR_H
#define LAUNCH_JANITOR_H

#include <stddef.h>
#include <sys/types.h>

struct janitor {
	pid_t pid;     /* 0: none */
	int dismissal; /* its end of file without a byte means that we died */
};

#define JANITOR_NONE ((struct janitor){.dismissal = -1})

/* Removes these directories, last first, when the caller dies. Where it cannot be started there is
 * none: the next run sweeps. */
void janitor_start(struct janitor *ret, char *const *paths, size_t count);
/* The caller removed them itself: ends the janitor and reaps it. */
void janitor_finish(struct janitor *j);

#endif
