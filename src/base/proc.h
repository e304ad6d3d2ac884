/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of another process in /proc/PID/stat. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
	int64_t parent;
	uint64_t start; /* ticks since boot at its birth, never 0: pids come again, with another */
};

/* False when there is no such process, or none that can be seen. */
bool proc_stat_read(int64_t pid, struct proc_stat *ret);

#endif
