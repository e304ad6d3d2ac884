/* SPDX-License-Identifier: Apache-2.0 */
/* New processes in new namespaces. */
#ifndef LAUNCH_NS_H
#define LAUNCH_NS_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

/*
 * Like fork: 0 in the child, its pid in the caller with *ret_pidfd owned by it, -1 on error. The
 * child is init of new user, mount, pid, net, uts and ipc namespaces, in the cgroup v2 directory
 * cgroup_fd unless that is -1. Its death sends no signal, so that a host which ignores SIGCHLD
 * can still reap it. An error names the sysctl that stands in the way.
 */
MUST_CHECK pid_t ns_clone_init(int cgroup_fd, int *ret_pidfd, struct error *err);
/*
 * A process in a new user namespace that does nothing until it is killed: it shares our memory,
 * which is cheaper than a copy. Its pid, with *ret_pidfd owned by the caller.
 */
MUST_CHECK pid_t ns_clone_holder(int *ret_pidfd, struct error *err);
/* Adds to an error of an unprivileged init what of this host may be the cause. */
void ns_explain_refusal(struct error *err);
/* A cgroup namespace rooted where the caller is now, so that its path says nothing of the host. */
MUST_CHECK int ns_unshare_cgroup(struct error *err);
/* Kills the child behind pidfd, if it still runs, and reaps it. */
void ns_kill_and_reap(int pidfd);

#endif
