/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of processes: logical time since they began, and what they collected of their children.
 */
#ifndef SUPERVISE_SYS_USAGE_H
#define SUPERVISE_SYS_USAGE_H

#include <stdint.h>
#include <sys/resource.h>

#include "supervise/engine/task.h"

/* Of p alone, to this day or to its death. */
uint64_t usage_cpu_ns(const struct process *p);
/* Such CPU time with the fixed figures of memory. */
struct rusage usage_of(uint64_t cpu_ns);
/* parent waited for the dead child: its time is the parent's children's now. */
void usage_collect(struct process *parent, const struct process *child);

#endif
