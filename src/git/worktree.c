/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked worktrees: see repo.h.
 *
 * How it works. A worktree is the directory worktrees/NAME of the repository with three small files
 * (gitrepository-layout(5)) and a file .git in the directory of the files. libgit2 makes them too,
 * but with a branch and a checkout that we do not want. HEAD is written last: without it git takes
 * the directory for none, so that whatever was killed half-way is no worktree.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "git/files.h"
#include "git/source.h"

enum { WORKTREES_MAX = 100000 };

static int check_name(const char *name, struct error *err)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t len = strlen(name);

	if (len == 0 || len > 100 || name[0] == '.' || strspn(name, allowed) != len)
		return error_set(err, ERR_USAGE, "'%.100s' cannot be the name of a worktree", name);
	return 0;
}

static int write_file(int dir, const char *name, const char *text, struct error *err)
{
	autoclose int fd = -1;

	if (fault_point("git: write a file of a worktree") < 0)
		return error_sys(err, "write '%s'", name);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? error_sys(err, "make '%s'", name)
		      : fd_write_all(fd, text, strlen(text), err);
}

/* The repository's directory "worktrees"; make: made where it is not there. -1 with errno. */
static int open_worktrees(git_repository *repo, bool make)
{
	autofree char *path = str_format("%sworktrees", git_repository_commondir(repo));

	if (make && mkdir(path, 0755) < 0 && errno != EEXIST)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int link_both(git_repository *repo, int admin, const char *name, int dir, const char *path,
	struct error *err)
{
	autofree char *to = str_format(
			      "gitdir: %sworktrees/%s\n", git_repository_commondir(repo), name),
		      *back = str_format("%s/.git\n", path);

	return write_file(admin, "commondir", "../..\n", err) < 0 ||
			       write_file(admin, "gitdir", back, err) < 0 ||
			       write_file(dir, ".git", to, err) < 0
		       ? -1
		       : 0;
}

static int write_head(git_repository *repo, int admin, const char *new_branch, git_commit *commit,
	const char *id, struct error *err)
{
	auto_ref git_reference *branch = NULL;
	autofree char *text = new_branch ? str_format("ref: refs/heads/%s\n", new_branch)
					 : str_format("%s\n", id);
	int r = new_branch ? git_branch_create(&branch, repo, new_branch, commit, 0) : 0;

	if (r < 0)
		return lib_error(r, err, "make the branch '%.100s'", new_branch);
	if (write_file(admin, "HEAD", text, err) == 0)
		return 0;
	if (branch)
		git_branch_delete(branch);
	return -1;
}

struct adding {
	git_repository *repo;
	const char *name, *new_branch, *path; /* path: absolute */
	int dir, admin;
};

static int fill(const struct adding *a, const struct repo_source *s,
	char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	auto_commit git_commit *commit = NULL;
	auto_git_tree git_tree *tree = NULL;
	auto_repo git_repository *linked = NULL;
	int r = lib_find_commit(a->repo, s->branch, &commit, err);

	if (r == 0)
		return error_set(err, ERR_MISSING, "'%.200s' has no commit yet", s->path);
	if (r < 0)
		return -1;
	git_oid_tostr(ret_commit, REPO_COMMIT_SIZE, git_commit_id(commit));
	r = git_commit_tree(&tree, commit);
	if (r < 0)
		return lib_error(r, err, "read a commit");
	if (link_both(a->repo, a->admin, a->name, a->dir, a->path, err) < 0 ||
		files_write(a->repo, tree, s, a->dir, err) < 0 ||
		write_head(a->repo, a->admin, a->new_branch, commit, ret_commit, err) < 0)
		return -1;
	if (lib_open(a->path, &linked, err) < 0)
		return -1;
	return files_index(linked, tree, s, err);
}

int repo_worktree_add(const struct repo_source *s, const char *name, const char *new_branch,
	const char *dir, char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	auto_repo git_repository *repo = NULL;
	autoclose int worktrees = -1, admin = -1, fd = -1;
	autofree char *path = NULL;
	bool made = false;
	int r;

	if (check_name(name, err) < 0 || files_check_sparse(s, err) < 0 ||
		source_open(s, &repo, err) < 0)
		return -1;
	worktrees = open_worktrees(repo, true);
	if (worktrees < 0)
		return error_sys(err, "make 'worktrees' in '%.200s'", s->path);
	if (files_open_empty(dir, &fd, &made, err) < 0)
		return -1;
	path = realpath(dir, NULL);
	if (!path)
		return error_sys(err, "resolve '%.200s'", dir);
	if (mkdirat(worktrees, name, 0755) < 0) {
		r = errno == EEXIST ? error_set(err, ERR_BUSY, "there is a worktree '%s'", name)
				    : error_sys(err, "make the worktree '%s'", name);
		if (made)
			rmdir(dir);
		return r;
	}
	admin = openat(worktrees, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = admin < 0 ? error_sys(err, "open the worktree '%s'", name)
		      : fill(&(struct adding){repo, name, new_branch, path, fd, admin}, s,
				ret_commit, err);
	if (r < 0) {
		if (remove_contents(fd, NULL) == 0 && made)
			rmdir(dir);
		(void)!remove_tree(worktrees, name, NULL);
	}
	return r;
}

int repo_worktree_remove(const char *path, const char *name, const char *dir, struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	auto_repo git_repository *repo = NULL;
	autoclose int worktrees = -1;
	int files = 0, admin = 0;

	if (check_name(name, err) < 0 || lib_open(path, &repo, err) < 0)
		return -1;
	if (dir)
		files = remove_tree(AT_FDCWD, dir, err);
	if (files < 0)
		return error_wrap(err, "worktree '%s'", name);
	worktrees = open_worktrees(repo, false);
	if (worktrees < 0 && errno != ENOENT)
		return error_sys(err, "open 'worktrees' in '%.200s'", path);
	if (worktrees >= 0)
		admin = remove_tree(worktrees, name, err);
	if (admin < 0)
		return error_wrap(err, "worktree '%s'", name);
	return files > 0 || admin > 0;
}

int repo_worktree_list(const char *path, char ***ret_names, struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	auto_repo git_repository *repo = NULL;
	auto_names struct beneath_names names = {0};
	autoclose int worktrees = -1;
	size_t count = 0;
	char **list;

	if (lib_open(path, &repo, err) < 0)
		return -1;
	worktrees = open_worktrees(repo, false);
	if (worktrees < 0 && errno != ENOENT)
		return error_sys(err, "open 'worktrees' in '%.200s'", path);
	if (worktrees >= 0 && beneath_list(worktrees, WORKTREES_MAX, &names, err) < 0)
		return -1;
	list = mem_array(names.count + 1, sizeof(*list));
	for (size_t i = 0; i < names.count; i++) {
		autofree char *head = str_format("%s/HEAD", names.items[i]);

		if (faccessat(worktrees, head, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			list[count++] = mem_strdup(names.items[i]);
	}
	*ret_names = list;
	return 0;
}

void repo_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

int repo_branch_remove(const char *path, const char *branch, struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	auto_repo git_repository *repo = NULL;
	auto_ref git_reference *ref = NULL;
	int r;

	if (lib_open(path, &repo, err) < 0)
		return -1;
	r = git_branch_lookup(&ref, repo, branch, GIT_BRANCH_LOCAL);
	if (r == GIT_ENOTFOUND)
		return 0;
	if (r == 0)
		r = git_branch_delete(ref);
	return r < 0 ? lib_error(r, err, "remove the branch '%.100s'", branch) : 1;
}
