/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git repositories through libgit2 alone: checkouts, worktrees, cleanliness. Nothing that a
 * repository or its configuration names is ever run: no hook, no filter, no helper, no pager; no
 * configuration of the user or the system is read, and no text is converted on the way.
 */
#ifndef GIT_REPO_H
#define GIT_REPO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

enum { REPO_COMMIT_SIZE = 41 }; /* 40 hex digits and a NUL */

struct repo_source {
	const char *path; /* of a repository, a working tree or a linked worktree of it */
	/* It may be another user's, and be made of what lies elsewhere: see source.h. */
	bool trusted;
	const char *branch; /* a branch, tag or commit; NULL: what HEAD is at */
	/* Paths of files and directories, from the top; count 0: everything. */
	const char *const *sparse;
	size_t sparse_count;
};

/*
 * An independent repository with its files in the empty or absent directory dir: history, the
 * branch checked out, sparse paths marked as git does (skip-worktree), the source as the remote
 * "origin". A submodule is an empty directory. On an error dir is empty again. *ret_commit is what
 * is checked out, "" for a source without commits.
 */
MUST_CHECK int repo_checkout(const struct repo_source *s, const char *dir,
	char ret_commit[REPO_COMMIT_SIZE], struct error *err);
/* The files alone, without a .git. */
MUST_CHECK int repo_export(const struct repo_source *s, const char *dir,
	char ret_commit[REPO_COMMIT_SIZE], struct error *err);

/*
 * A linked worktree of the source named name (letters, digits and "._-") in the empty or absent
 * directory dir, at a detached HEAD or, with new_branch, at a branch of that name made there.
 * ERR_BUSY when the name or the branch is taken.
 */
MUST_CHECK int repo_worktree_add(const struct repo_source *s, const char *name,
	const char *new_branch, const char *dir, char ret_commit[REPO_COMMIT_SIZE],
	struct error *err);
/*
 * Forgets the worktree and removes dir, with whatever is in it; NULL leaves the files. The
 * directory that the repository remembers is not believed, since others write there. 1, or 0 when
 * neither was there.
 */
MUST_CHECK int repo_worktree_remove(
	const char *path, const char *name, const char *dir, struct error *err);
/* Every worktree's name, sorted, NULL-terminated (repo_names_free). */
MUST_CHECK int repo_worktree_list(const char *path, char ***ret_names, struct error *err);
void repo_names_free(char **names);
/* Forgets a local branch; its commits stay. 1, or 0 when there is none. */
MUST_CHECK int repo_branch_remove(const char *path, const char *branch, struct error *err);

/* What a working tree has that its HEAD has not. */
struct repo_state {
	char commit[REPO_COMMIT_SIZE]; /* of HEAD; "" before the first commit */
	char branch[256];	       /* "" when detached */
	bool is_clean;
	size_t staged, changed, untracked, conflicted; /* files; ignored ones do not count */
	char first[1024]; /* path of the first that is not clean, or "" */
};
MUST_CHECK int repo_state(const char *path, struct repo_state *ret, struct error *err);

/* How a working tree is not its commit. */
enum repo_difference {
	REPO_MODIFIED, /* another content, mode or kind of file */
	REPO_DELETED,
	REPO_EXTRA,	      /* there, and not in the commit: untracked or ignored */
	REPO_STAGED,	      /* the index is not the commit's */
	REPO_SUBMODULE,	      /* an empty one: its files are not here */
	REPO_SUBMODULE_FILES, /* one with files, of which this commit says nothing */
	REPO_LFS_POINTER,     /* as in the commit, which names a content that is not here */
	REPO_LFS_CONTENT,     /* the content stands where the commit has the pointer to it */
};
/* path: from the top, as it is on disk. */
typedef void repo_told(void *arg, enum repo_difference what, const char *path);
/*
 * Holds the whole working tree against the commit of its HEAD, byte by byte: neither the index nor
 * its bits (assume-unchanged, skip-worktree) nor any ignore file is believed. A difference is no
 * error: it is told. *ret_files: how many files the commit has.
 */
MUST_CHECK int repo_verify(const char *path, repo_told *told, void *arg,
	char ret_commit[REPO_COMMIT_SIZE], size_t *ret_files, struct error *err);

#endif
