/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of files into which layers are laid: names are opened one directory at a time beneath the
 * tree's own, and no symlink on the way is followed. For the files of the archive module.
 */
#ifndef IMAGE_TREE_H
#define IMAGE_TREE_H

#include <archive.h>
#include <archive_entry.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "image/archive.h"
#include "image/pathset.h"

/* What a directory gets when all is there. */
struct tree_dir {
	char *path; /* "" is the tree itself */
	size_t order;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec mtime;
};

struct archive_tree {
	int root;
	bool is_root; /* owners can be given */
	struct archive_bounds bounds;
	struct archive_counts counts;
	uint64_t stream_bytes;
	struct tree_dir *dirs;
	size_t dir_count, dir_room;
	/* The directory that was opened last. */
	char parent[PATH_MAX];
	int parent_fd; /* -1: none */
	/* While a layer over another is laid. */
	bool is_upper, plain;
	struct path_set own;
};

/*
 * The name without "./", doubled and trailing slashes, in ret; "" for the root. ERR_ESCAPE for what
 * is absolute or has "..".
 */
MUST_CHECK int tree_tidy(const char *name, char ret[PATH_MAX], struct error *err);
/* Where the last part begins in a tidy path. */
const char *tree_last(const char *path);
/* The directory above, made where it is missing; borrowed until the next call. */
MUST_CHECK int tree_parent(
	struct archive_tree *t, const char *path, bool make, int *ret_fd, struct error *err);
/* Forgets the directory that was opened last: it may be gone. */
void tree_forget(struct archive_tree *t);
/* Takes away what has this name, whatever it is. */
MUST_CHECK int tree_clear(struct archive_tree *t, const char *path, struct error *err);
/* ".wh." names; 1 when path was one. */
MUST_CHECK int tree_whiteout(struct archive_tree *t, const char *path, struct error *err);
/* Notes what a directory is to get. */
void tree_note(struct archive_tree *t, const char *path, mode_t mode, uid_t uid, gid_t gid,
	struct timespec mtime);
/* Owner, mode, attributes and time of what was made; fd is it, or its directory with `name`. */
MUST_CHECK int tree_dress(struct archive_tree *t, int fd, const char *name, struct archive_entry *e,
	struct error *err);
/* The extended attributes, but for those that would say something to this host. */
void tree_xattrs(struct archive_tree *t, int fd, struct archive_entry *e);

#endif
