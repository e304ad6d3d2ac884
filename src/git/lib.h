/* SPDX-License-Identifier: Apache-2.0 */
/* libgit2 as this folder uses it: started without anybody's configuration, errors as ours. */
#ifndef GIT_LIB_H
#define GIT_LIB_H

#include <git2.h>
#include <signal.h>
#include <sys/time.h>

#include "base/attr.h"
#include "base/error.h"
#include "git/repo.h"

/* -1 with what libgit2 says last, after our words. ERR_MISSING and ERR_BUSY by its code. */
int lib_error(int code, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/*
 * While one is there, nothing waits for ever at a fifo that somebody has put in the place of a file
 * of a repository: libgit2 opens whatever has the name. It takes SIGALRM and the timer of it.
 */
struct lib_guard {
	struct sigaction action;
	struct itimerval timer;
};

struct lib_guard lib_guard(void);
void lib_guard_finish(struct lib_guard *g);
#define auto_guard UNUSED CLEANUP(lib_guard_finish)

/* The repository at this very path, not one above it. */
MUST_CHECK int lib_open(const char *path, git_repository **ret, struct error *err);
/* The commit that a branch, tag or commit id names, local ones before remote ones; HEAD's for NULL.
 * 0 when HEAD has no commit yet. */
MUST_CHECK int lib_find_commit(
	git_repository *repo, const char *name, git_commit **ret, struct error *err);

void lib_free_repo(git_repository **r);
void lib_free_commit(git_commit **c);
void lib_free_tree(git_tree **t);
void lib_free_index(git_index **i);
void lib_free_ref(git_reference **r);
#define auto_repo CLEANUP(lib_free_repo)
#define auto_commit CLEANUP(lib_free_commit)
#define auto_git_tree CLEANUP(lib_free_tree)
#define auto_index CLEANUP(lib_free_index)
#define auto_ref CLEANUP(lib_free_ref)

#endif
