/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory tree in the order of an image: by whole path, so that "a", "a-b", "a.txt", "a/x" come
 * one after the other though two of them lie beside the directory of the last.
 */
#ifndef CAS_WALK_H
#define CAS_WALK_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/snapshot.h"

struct walk_entry {
	int dir;	   /* descriptor of the directory that holds it; borrowed */
	const char *name;  /* in there */
	const char *path;  /* from the top */
	mode_t type;	   /* S_IFREG and so on, as the directory says */
	bool is_git_index; /* to be normalised */
};

/* Returns 0 to go on, -1 with err. */
typedef int walk_visit(void *context, const struct walk_entry *e, struct error *err);

/* Every entry below dir that the policy for .git keeps. */
MUST_CHECK int walk_tree(
	int dir, enum snapshot_git git, walk_visit *visit, void *context, struct error *err);

/* -1 for what failed with errno; ERR_BUSY when the entry was another kind of thing when listed. */
int walk_fail(const char *what, const struct walk_entry *e, struct error *err);
/* -1, ERR_BUSY: it is not what it was when its directory was listed. */
int walk_changed(const struct walk_entry *e, struct error *err);

#endif
