/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drivers share whose workspace is a directory of this host: home/workspace, and beside it
 * home/special, the list of special files that a thaw did not make.
 */
#ifndef SANDBOX_HOSTDIR_H
#define SANDBOX_HOSTDIR_H

#include "base/attr.h"
#include "base/error.h"
#include "git/repo.h"
#include "sandbox/inside.h"
#include "sandbox/overlay.h"
#include "sandbox/sandbox.h"

/* The absolute path of the workspace (caller frees). */
char *hostdir_path(const struct sandbox *s);
/* A workspace that is open: a directory, or layers that are laid as long as it is. */
struct workspace {
	int dir; /* owned */
	struct overlay layers;
};
#define WORKSPACE_NONE ((struct workspace){-1, {.tree = -1, .link = -1}})
void workspace_close(struct workspace *w);
#define auto_workspace CLEANUP(workspace_close)
/* Opens it. ERR_MISSING when it is not there. */
MUST_CHECK int hostdir_open(const struct sandbox *s, struct workspace *ret, struct error *err);
/* Makes it, empty. */
MUST_CHECK int hostdir_make(const struct sandbox *s, struct error *err);
/* The repository of the manifest, its strings borrowed; path NULL: it has none. */
struct repo_source hostdir_repo(const struct sandbox *s);
/* Writes the manifest's files into it. */
MUST_CHECK int hostdir_fill(struct sandbox *s, struct error *err);

/* Members of struct sandbox_driver. */
MUST_CHECK int hostdir_thaw(
	struct sandbox *s, struct cas *c, const char *digest, struct error *err);
/* The .git of `from` goes the way that git says. */
MUST_CHECK int hostdir_copy(struct sandbox *s, struct sandbox *from, enum snapshot_git git,
	const char **ret_how, struct error *err);
/* What `from` knows of special files that are not made; a copy has it already. */
MUST_CHECK int hostdir_keep_special(
	const struct sandbox *s, const struct sandbox *from, struct error *err);
MUST_CHECK int hostdir_read(struct sandbox *s, const char *path, size_t max, char **ret,
	size_t *ret_len, struct error *err);
MUST_CHECK int hostdir_write(struct sandbox *s, const char *path, const void *data, size_t len,
	unsigned mode, struct error *err);
MUST_CHECK int hostdir_ls(
	struct sandbox *s, const char *path, struct sandbox_names *ret, struct error *err);
MUST_CHECK int hostdir_freeze(struct sandbox *s, struct cas *c,
	const struct snapshot_policy *policy, char ret[DIGEST_TEXT], struct error *err);
/* Removes the workspace, also one in layers, whatever its modes are; what is not there is success.
 */
MUST_CHECK int hostdir_destroy(struct sandbox *s, struct error *err);

#endif
