/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory tree as one object of the store and back: canonical ustar, a pure function of the
 * tree, so the same on any host, for any user and umask, on any file system. Docs:
 * docs/format/snapshot. Freezing what thawing made gives the same digest again.
 */
#ifndef CAS_SNAPSHOT_H
#define CAS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/cas.h"

#define SNAPSHOT_TREE_TYPE "application/x-tar"
#define SNAPSHOT_RECORD_TYPE "application/vnd.sandglass.snapshot+json"
/* The member that lists sockets, fifos and devices. */
#define SNAPSHOT_SPECIAL_NAME ".sandglass-special"

enum {
	SNAPSHOT_DEPTH_MAX = 256, /* directories below each other */
	SNAPSHOT_ENTRIES_MAX = 10000000,
	SNAPSHOT_SPECIAL_MAX = 4 << 20, /* bytes of the list of special files */
};

/* What becomes of each entry named .git, at any depth. */
enum snapshot_git {
	SNAPSHOT_GIT_KEEP, /* it is a file or directory like any other */
	SNAPSHOT_GIT_DROP, /* left out */
	/* A directory without what depends on clocks, stat data and the host: see the format. */
	SNAPSHOT_GIT_NORMALISE,
};

struct snapshot_policy {
	enum snapshot_git git;
	bool has_xattrs; /* user.* attributes of files and directories too */
	/*
	 * The list that thaw gave, NULL for none: each of its entries whose path is absent in the
	 * tree is recorded again.
	 */
	const char *special;
	/*
	 * Digest of an earlier snapshot in the same store, or NULL. What is the same is then stored
	 * once; the digest does not depend on it.
	 */
	const char *base;
	struct cas_progress progress; /* bytes of the image */
};

/*
 * Freezes the directory into the store; the digest is that of the tree's image. The tree has to
 * hold still meanwhile: what changes under the reader's hands is ERR_BUSY.
 */
MUST_CHECK int snapshot_freeze(int dir, const struct snapshot_policy *policy, struct cas *c,
	char ret[DIGEST_TEXT], struct error *err);
/* The same digest, nothing is stored. */
MUST_CHECK int snapshot_digest(
	int dir, const struct snapshot_policy *policy, char ret[DIGEST_TEXT], struct error *err);

/*
 * Makes the tree of a snapshot (an image, or a record of one) in an empty directory, with exact
 * modes whatever the umask, owned by the caller. Special files are not made: *ret_special is their
 * list (caller frees), NULL when there is none; keep it outside the tree for the next freeze. On
 * an error the directory is empty again; ERR_TAMPERED, ERR_MISSING as in cas.h.
 */
MUST_CHECK int snapshot_thaw(struct cas *c, const char *digest, int dir,
	const struct cas_progress *progress, char **ret_special, struct error *err);

/*
 * Makes in the empty directory `to` what thawing a snapshot of `from` would, at once; the times of
 * files and their user.* attributes come along. *ret_shared: blocks are shared with the files of
 * `from` as far as the file system goes (reflinks), and not copied. *ret_special as above. What an
 * error leaves is the caller's to remove. policy.git is KEEP or DROP; base is not looked at.
 */
MUST_CHECK int snapshot_copy(int from, const struct snapshot_policy *policy, int to,
	bool *ret_shared, char **ret_special, struct error *err);

/*
 * A snapshot's record: the second object, which holds what a tree does not say (root, environment,
 * time-out...) and names the tree. Its digest stands for both. manifest is borrowed.
 */
MUST_CHECK int snapshot_record_put(struct cas *c, const char *tree, const json_t *manifest,
	char ret[DIGEST_TEXT], struct error *err);
/*
 * 1: the digest is a record, *ret_tree its tree, *ret_manifest (caller's, json_decref) what it
 * holds. 0: it is another object, taken to be a tree; *ret_tree is itself, *ret_manifest NULL.
 */
MUST_CHECK int snapshot_record_find(struct cas *c, const char *digest, char ret_tree[DIGEST_TEXT],
	json_t **ret_manifest, struct error *err);

#endif
