/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a workspace that is a directory of this host, as the guest names them. The guest may
 * change the tree at any moment: every step goes through held descriptors and follows no link
 * unseen, so nothing outside the directory can be reached.
 */
#ifndef SANDBOX_INSIDE_H
#define SANDBOX_INSIDE_H

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/* dir is the workspace and `root` its name inside: what absolute paths and links begin with. */
struct inside {
	int dir; /* borrowed */
	const char *root;
	int staging; /* a directory where files are written before they come in; borrowed, or -1 */
};

/* As in struct sandbox_driver. */
MUST_CHECK int inside_read(const struct inside *in, const char *path, size_t max, char **ret,
	size_t *ret_len, struct error *err);
MUST_CHECK int inside_write(const struct inside *in, const char *path, const void *data, size_t len,
	unsigned mode, struct error *err);
MUST_CHECK int inside_ls(
	const struct inside *in, const char *path, struct sandbox_names *ret, struct error *err);
/* The directory of this path: a descriptor (the caller closes it), and its path from the workspace
 * without links ("" for itself; caller frees; may be NULL). */
MUST_CHECK int inside_open_dir(
	const struct inside *in, const char *path, int *ret_fd, char **ret_real, struct error *err);

#endif
