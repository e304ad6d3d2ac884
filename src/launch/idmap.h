/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which host ids stand behind the guest's one uid and gid. Without privileges they are the
 * caller's own; root gets an id that owns nothing (PINNED: 2000001000), and directories are shown
 * through id-mapped mounts so that their owner is the guest.
 */
#ifndef LAUNCH_IDMAP_H
#define LAUNCH_IDMAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

struct idmap {
	bool privileged; /* foreign ids and id-mapped mounts can be made */
	uid_t uid;	 /* on the host */
	gid_t gid;
};

/* Looks at the caller's ids, capabilities and id maps. */
struct idmap idmap_choose(void);
/* Writes the maps of the process pid, just made in a new user namespace. */
MUST_CHECK int idmap_write(
	const struct idmap *m, pid_t pid, const struct contract *c, struct error *err);
/* The same with these ids inside. */
MUST_CHECK int idmap_write_ids(
	const struct idmap *m, pid_t pid, uid_t in_uid, gid_t in_gid, struct error *err);
/*
 * A detached copy of an image's root in which the files of the contract's uid and gid are the
 * guest's; privileged only. A file system that cannot be id-mapped shows the true owners.
 */
MUST_CHECK int idmap_image(const struct idmap *m, const char *path, const struct contract *c,
	int *ret_tree, struct error *err);
/*
 * A detached copy of the mounts at path in which the owner of path is the guest; privileged only.
 * *ret_mapped false: this file system cannot be id-mapped and the tree shows the true owners.
 */
MUST_CHECK int idmap_tree(const struct idmap *m, const char *path, int *ret_tree, bool *ret_mapped,
	struct error *err);

#endif
