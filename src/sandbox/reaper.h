/* SPDX-License-Identifier: Apache-2.0 */
/* Ending every process that descends from this one, whoever its parent was. */
#ifndef SANDBOX_REAPER_H
#define SANDBOX_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attr.h"

enum { REAPER_SPARED_MAX = 1024 };

/* Between begin and end, orphans among the descendants become children of this process. */
struct reaper {
	bool was_subreaper;
	pid_t spared[REAPER_SPARED_MAX]; /* children from before, which are none of its business */
	size_t count;
};

void reaper_begin(struct reaper *r);
/*
 * Kills and reaps all descendants but the spared ones and what is below those. False when some
 * were left after ten seconds: they fork faster than they can be killed, or cannot die.
 */
bool reaper_kill(const struct reaper *r);
void reaper_end(struct reaper *r);
#define auto_reaper CLEANUP(reaper_end)

#endif
