/* SPDX-License-Identifier: Apache-2.0 */
/* Places where a test stops, kills or fails us: see fault.h. */
#include "base/fault.h"

#include <stddef.h>

static fault_watcher *the_watcher;
static void *the_context;

int fault_point(const char *step)
{
	return the_watcher ? the_watcher(the_context, step) : 0;
}

void fault_watch(fault_watcher *watcher, void *context)
{
	the_watcher = watcher;
	the_context = context;
}
