/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts by descriptor (Linux 5.12: fsopen, open_tree, move_mount, mount_setattr). Nothing here
 * allocates, so that init may call it between clone and exec. Every attached mount is nosuid; all
 * but devices are nodev.
 */
#ifndef LAUNCH_MOUNTS_H
#define LAUNCH_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

/* One fsconfig parameter; a NULL value makes it a flag. */
struct mounts_option {
	const char *key, *value;
};

enum mounts_kind {
	MOUNTS_READ_ONLY,
	MOUNTS_WRITABLE,
	MOUNTS_DEVICE, /* device nodes: may be opened, nothing is executable */
};

/* A new file system of this type, not yet attached; the caller closes *ret_fd. */
MUST_CHECK int mounts_new(const char *type, enum mounts_kind kind,
	const struct mounts_option *options, size_t count, int *ret_fd, struct error *err);
/* A detached copy of the mounts at dirfd/path (path "" for dirfd itself), with those beneath. */
MUST_CHECK int mounts_clone(int dirfd, const char *path, int *ret_fd, struct error *err);
/* Gives a detached tree, and all mounts in it, the attributes of its kind. */
MUST_CHECK int mounts_set_kind(int tree, enum mounts_kind kind, struct error *err);
/* Attaches a detached tree over dirfd/path (path "" for dirfd itself). */
MUST_CHECK int mounts_attach(int tree, int dirfd, const char *path, struct error *err);
/* clone, set_kind and attach. */
MUST_CHECK int mounts_bind(int from_dir, const char *from, int to_dir, const char *to,
	enum mounts_kind kind, struct error *err);
/* Makes the mount that fd is the root of read-only, those beneath it not. */
MUST_CHECK int mounts_seal(int fd, struct error *err);
/* Takes the mount that fd is the root of out of the tree; fd stays usable. Changes the cwd. */
MUST_CHECK int mounts_detach(int fd, struct error *err);

/*
 * Opens (O_PATH) the place that the absolute path has inside root, no symlink leading out of it,
 * and makes what is missing: directories, and at the end a directory or an empty file.
 */
MUST_CHECK int mounts_place(
	int root, const char *path, bool directory, int *ret_fd, struct error *err);
/* A new directory, opened (O_PATH). */
MUST_CHECK int mounts_make_dir(int dirfd, const char *name, int *ret_fd, struct error *err);
/* A read-only file with this text. */
MUST_CHECK int mounts_text(
	int dirfd, const char *name, const char *text, size_t len, struct error *err);

#endif
