/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native container: namespaces, mounts, limits and confinement for one run, with our static
 * supervisor as its init. Nothing of it is left when launch_free returns: no mount, cgroup,
 * process or temporary file on the host.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"
#include "wire/reasons.h"

struct launch_spec {
	/* Borrowed: rootfs, binds, copy_dir, limits, ids, hostname. */
	const struct contract *contract;
	/* A directory of the caller's own where something may be kept for later launches; or NULL.
	 */
	const char *state;
	int supervisor; /* readable descriptor of the static supervisor; borrowed */
	int control;	/* socket that becomes descriptor 3 of init; borrowed */
	/* Stands for the source of the first bind: a detached mount, used up by this; borrowed. */
	bool has_tree;
	int tree;
	/*
	 * The rootfs is of a container image: the directories that we mount over and the fixed
	 * files of /etc are there even if it lacks them, and its user's files are the guest's own.
	 */
	bool is_image;
	/*
	 * Become 0, 1 and 2 of init and of the guest; borrowed. With contract->tty they may be -1:
	 * a terminal is then made inside, see launch_terminal.
	 */
	int stdio[3];
};

/* A container that runs: made by launch_start, or by a runtime (src/oci). */
struct launch;

/*
 * Makes a pipe or a terminal that the caller has created for the guest the guest's own, so that
 * it can be opened again by name (/dev/stdout). Matters as root alone; never give it what
 * belongs to somebody else.
 */
MUST_CHECK int launch_give(int fd, struct error *err);

/* Something weaker than asked, in the user's words. */
struct launch_degraded {
	enum reason reason; /* REASON_LIMIT_DEGRADED or another that is not fatal */
	char detail[200];
};

/* The container runs and its init is about to exec the supervisor. The caller frees *ret. */
MUST_CHECK int launch_start(const struct launch_spec *spec, struct launch **ret, struct error *err);

/* The master of the terminal that was made inside: the caller owns it from now on. -1: none. */
int launch_terminal(struct launch *l);
/* Becomes readable when who made the container is gone while it may still run; -1: that cannot be.
 * Borrowed. */
int launch_lost_fd(const struct launch *l);
/*
 * The written layer of the private copy of copy_dir as a directory descriptor that stays valid
 * after init died, or -1 when there is no copy. Borrowed. With *ret_is_overlay true it holds only
 * what the guest wrote, and a character device 0:0 stands for a deletion; with false it is a whole
 * copy, to be compared with copy_dir.
 */
int launch_copy_fd(const struct launch *l, bool *ret_is_overlay);
/* What could not be enforced on this host; valid from launch_start on. Borrowed. */
const struct launch_degraded *launch_degraded(const struct launch *l, size_t *ret_count);
/* True when no cgroup bounds memory: the supervisor watches it (conditions.memory_watch). */
bool launch_needs_memory_watch(const struct launch *l);

/* Wakes init: it reads its control socket when this signal arrives. */
MUST_CHECK int launch_nudge(struct launch *l, struct error *err);
/* Kills everything in the container. Safe at any moment, more than once. */
void launch_kill(struct launch *l);
/* Waits until init is dead and reaped; *ret_status as waitpid gives it. */
MUST_CHECK int launch_wait(struct launch *l, int *ret_status, struct error *err);
/* True when the memory limit killed something; ask after launch_wait. */
bool launch_was_oom(const struct launch *l);
/* Kills, reaps, removes the cgroup. NULL is allowed. */
void launch_free(struct launch *l);

void launch_cleanup(struct launch **l);
#define auto_launch CLEANUP(launch_cleanup)

/*
 * The deny list that the supervisor installs in the guest under its own trace filter, as BPF
 * (caller frees *ret). libseccomp made it when this was built; it refuses what engine-notes and
 * PINNED.md name whether the run is deterministic or not: io_uring, bpf, perf, keyrings, userns,
 * mounts, foreign ABIs, exotic socket families.
 */
MUST_CHECK int launch_deny_filter(
	struct contract_filter_insn **ret, size_t *ret_len, struct error *err);

#endif
