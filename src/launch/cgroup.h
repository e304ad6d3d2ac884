/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on memory, processes and CPU time by control groups, version 2 or 1, where the caller may
 * write them. One child group a run, named sandglass-PID-N after the host process.
 */
#ifndef LAUNCH_CGROUP_H
#define LAUNCH_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

enum cgroup_limit { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_LIMITS };

struct cgroup;

/*
 * Makes the groups that can be made and sets the contract's limits; what cannot is no error but
 * false in cgroup_has. Also removes groups that runs killed with kill -9 left. The caller frees.
 */
struct cgroup *cgroup_new(const struct contract *c);
bool cgroup_has(const struct cgroup *g, enum cgroup_limit limit);
/* The version 2 directory for ns_clone_init, or -1. Borrowed. */
int cgroup_clone_fd(const struct cgroup *g);
/* Moves the calling process, which must be single-threaded, into the version 1 groups. */
MUST_CHECK int cgroup_join(const struct cgroup *g, struct error *err);
/* True when the memory limit made the kernel kill something in the group. */
bool cgroup_was_oom(const struct cgroup *g);
/* Removes the groups, waiting up to a second for what dies in them. NULL is allowed. */
void cgroup_free(struct cgroup *g);

#endif
