/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a commit, written by ourselves: exact modes, no filters, nothing followed. */
#ifndef GIT_FILES_H
#define GIT_FILES_H

#include "git/lib.h"

/* ERR_USAGE unless the paths are relative and tidy. */
MUST_CHECK int files_check_sparse(const struct repo_source *s, struct error *err);
/* Whether a file of this path is wanted. */
bool files_is_wanted(const struct repo_source *s, const char *path);
/* The tree's wanted files in the empty directory. */
MUST_CHECK int files_write(git_repository *repo, git_tree *tree, const struct repo_source *s,
	int dir, struct error *err);
/* An index that holds the tree; what is not wanted is marked as git does. */
MUST_CHECK int files_index(
	git_repository *repo, git_tree *tree, const struct repo_source *s, struct error *err);

/* The empty directory of this path, made if it is absent (mode 0755). */
MUST_CHECK int files_open_empty(const char *dir, int *ret, bool *ret_made, struct error *err);

#endif
