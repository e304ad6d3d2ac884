/* SPDX-License-Identifier: Apache-2.0 */
/* The private directories that packs are copied into and run from. */
#ifndef TRIAL_TREE_H
#define TRIAL_TREE_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

/* One trial's: removed by tree_close, or by the next trial when this process was killed. */
struct tree {
	char *path, *name;
	int work; /* -1: closed */
};

MUST_CHECK int tree_open(const char *work, struct tree *ret, struct error *err);
/* An empty directory in it: its path (caller frees) and a descriptor (the caller closes it). */
MUST_CHECK int tree_make(
	struct tree *t, size_t number, char **ret_path, int *ret_fd, struct error *err);
void tree_close(struct tree *t);
#define auto_tree CLEANUP(tree_close)

#endif
