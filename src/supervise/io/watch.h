/* SPDX-License-Identifier: Apache-2.0 */
/* Memory kept within its limit by looking at it now and then, for hosts where no cgroup does it. */
#ifndef SUPERVISE_WATCH_H
#define SUPERVISE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Off (0) unless this is called. */
void watch_memory(uint64_t limit_bytes);
/* On every tick: kills the largest guest process when all of them are over the limit together. */
void watch_tick(void);
/* Something was killed. */
bool watch_has_killed(void);

#endif
