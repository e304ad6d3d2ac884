/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a tree in an empty directory, entry by entry in the order of an image. Nothing is followed
 * on the way to a file, nothing is opened that is not new. Modes that would shut us out of a
 * directory are set when everything is in it. Paths are relative and tidy.
 */
#ifndef CAS_PLANT_H
#define CAS_PLANT_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/tar.h"

/* A directory whose mode waits. */
struct plant_waiting {
	char *path;
	mode_t mode;
};

struct plant {
	int top;    /* borrowed */
	int parent; /* of the last entry; -1 */
	char *parent_path;
	struct plant_waiting *waiting;
	size_t count, room;
};

void plant_init(struct plant *p, int top);
void plant_finish(struct plant *p);
#define auto_plant CLEANUP(plant_finish)

/* A new file of mode 0600 to be written; the caller closes it. */
MUST_CHECK int plant_file(struct plant *p, const char *path, int *ret_fd, struct error *err);
/* Exactly this mode, or an error. */
MUST_CHECK int plant_mode(int fd, mode_t mode, const char *path, struct error *err);
/* Attributes that begin with "user." alone; others are ERR_FORMAT. */
MUST_CHECK int plant_xattrs(
	int fd, const struct tar_xattr *xattrs, size_t count, const char *path, struct error *err);
MUST_CHECK int plant_directory(struct plant *p, const char *path, mode_t mode,
	const struct tar_xattr *xattrs, size_t xattr_count, struct error *err);
MUST_CHECK int plant_link(struct plant *p, const char *path, const char *target, struct error *err);
/* Sets the modes that waited. */
MUST_CHECK int plant_done(struct plant *p, struct error *err);

#endif
