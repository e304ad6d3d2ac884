/* SPDX-License-Identifier: Apache-2.0 */
/* Independent checkouts: see repo.h. */
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "git/files.h"
#include "git/source.h"

static int tree_of(
	git_commit *commit, git_tree **ret, char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	int r = git_commit_tree(ret, commit);

	if (r < 0)
		return lib_error(r, err, "read a commit");
	git_oid_tostr(ret_commit, REPO_COMMIT_SIZE, git_commit_id(commit));
	return 0;
}

static int export_to(
	const struct repo_source *s, int dir, char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	auto_repo git_repository *repo = NULL;
	auto_commit git_commit *commit = NULL;
	auto_git_tree git_tree *tree = NULL;
	int found;

	if (files_check_sparse(s, err) < 0 || source_open(s, &repo, err) < 0)
		return -1;
	found = lib_find_commit(repo, s->branch, &commit, err);
	if (found <= 0) {
		ret_commit[0] = '\0';
		return found;
	}
	if (tree_of(commit, &tree, ret_commit, err) < 0)
		return -1;
	return files_write(repo, tree, s, dir, err);
}

/* What a failure has left; the directory itself goes when we had made it. */
static void clear(const char *path, int dir, bool made)
{
	if (remove_contents(dir, NULL) == 0 && made)
		rmdir(path);
}

int repo_export(const struct repo_source *s, const char *dir, char ret_commit[REPO_COMMIT_SIZE],
	struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	autoclose int fd = -1;
	bool made;
	int r;

	if (files_open_empty(dir, &fd, &made, err) < 0)
		return -1;
	r = export_to(s, fd, ret_commit, err);
	if (r < 0)
		clear(dir, fd, made);
	return r;
}

/*
 * The history, by the transport that reads another repository in this very process: nothing is
 * started, and of the other's files only objects and references are looked at.
 */
static int fetch(const char *from, const char *dir, git_repository **ret, struct error *err)
{
	git_clone_options options = GIT_CLONE_OPTIONS_INIT;
	int r;

	options.checkout_opts.checkout_strategy = GIT_CHECKOUT_NONE;
	/* Not the copy of a directory of files that may be anything. */
	options.local = GIT_CLONE_NO_LOCAL;
	r = git_clone(ret, from, dir, &options);
	return r < 0 ? lib_error(r, err, "clone '%.200s'", from) : 0;
}

/* HEAD: the branch of that name, made if there is only the remote's, or the commit. */
static int set_head(
	git_repository *repo, const char *name, const git_commit *commit, struct error *err)
{
	auto_ref git_reference *local = NULL, *remote = NULL;
	autofree char *full = NULL;
	int r;

	if (!name)
		return 0; /* the clone has done it */
	full = str_format("refs/heads/%s", name);
	r = git_branch_lookup(&local, repo, name, GIT_BRANCH_LOCAL);
	if (r == GIT_ENOTFOUND) {
		autofree char *there = str_format("origin/%s", name);

		if (git_branch_lookup(&remote, repo, there, GIT_BRANCH_REMOTE) < 0) {
			r = git_repository_set_head_detached(repo, git_commit_id(commit));
			return r < 0 ? lib_error(r, err, "set HEAD") : 0;
		}
		r = git_branch_create(&local, repo, name, commit, 0);
		if (r == 0)
			r = git_branch_set_upstream(local, there);
	}
	if (r == 0)
		r = git_repository_set_head(repo, full);
	return r < 0 ? lib_error(r, err, "check out '%.100s'", name) : 0;
}

static int checkout_to(const struct repo_source *s, const char *dir, int fd,
	char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	auto_repo git_repository *source = NULL, *repo = NULL;
	auto_commit git_commit *commit = NULL;
	auto_git_tree git_tree *tree = NULL;
	int found;

	/* Opened first: a path that is none may not be taken for an address. */
	if (files_check_sparse(s, err) < 0 || source_open(s, &source, err) < 0 ||
		fetch(git_repository_commondir(source), dir, &repo, err) < 0)
		return -1;
	found = lib_find_commit(source, s->branch, &commit, err);
	if (found <= 0) {
		ret_commit[0] = '\0';
		return found;
	}
	git_oid_tostr(ret_commit, REPO_COMMIT_SIZE, git_commit_id(commit));
	lib_free_commit(&commit);
	commit = NULL;
	/* In the new repository, which has only what a reference leads to. */
	if (lib_find_commit(repo, s->branch ? s->branch : ret_commit, &commit, err) < 0 ||
		set_head(repo, s->branch, commit, err) < 0 ||
		tree_of(commit, &tree, ret_commit, err) < 0 ||
		files_write(repo, tree, s, fd, err) < 0)
		return -1;
	return files_index(repo, tree, s, err);
}

int repo_checkout(const struct repo_source *s, const char *dir, char ret_commit[REPO_COMMIT_SIZE],
	struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	autoclose int fd = -1;
	bool made;
	int r;

	if (files_open_empty(dir, &fd, &made, err) < 0)
		return -1;
	r = checkout_to(s, dir, fd, ret_commit, err);
	if (r < 0)
		clear(dir, fd, made);
	return r;
}
