/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repo.h for programs that rarely need it. libgit2 brings a dozen libraries with it, whose loading
 * takes longer than most of what a session does; so the folder's real code is a module,
 * sandglass-git.so, that is loaded at the first call of one of these.
 */
#include "config/module.h"
#include "git/repo.h"

static struct module module = {"sandglass-git.so", NULL};

int repo_checkout(const struct repo_source *s, const char *dir, char ret_commit[REPO_COMMIT_SIZE],
	struct error *err)
{
	typeof(repo_checkout) *f;

	return module_find(&module, "repo_checkout", &f, err) ? f(s, dir, ret_commit, err) : -1;
}

int repo_export(const struct repo_source *s, const char *dir, char ret_commit[REPO_COMMIT_SIZE],
	struct error *err)
{
	typeof(repo_export) *f;

	return module_find(&module, "repo_export", &f, err) ? f(s, dir, ret_commit, err) : -1;
}

int repo_worktree_add(const struct repo_source *s, const char *name, const char *new_branch,
	const char *dir, char ret_commit[REPO_COMMIT_SIZE], struct error *err)
{
	typeof(repo_worktree_add) *f;

	return module_find(&module, "repo_worktree_add", &f, err)
		       ? f(s, name, new_branch, dir, ret_commit, err)
		       : -1;
}

int repo_worktree_remove(const char *path, const char *name, const char *dir, struct error *err)
{
	typeof(repo_worktree_remove) *f;

	return module_find(&module, "repo_worktree_remove", &f, err) ? f(path, name, dir, err) : -1;
}

int repo_worktree_list(const char *path, char ***ret_names, struct error *err)
{
	typeof(repo_worktree_list) *f;

	return module_find(&module, "repo_worktree_list", &f, err) ? f(path, ret_names, err) : -1;
}

void repo_names_free(char **names)
{
	typeof(repo_names_free) *f;
	struct error err;

	/* Whoever has names has loaded it. */
	if (module_find(&module, "repo_names_free", &f, &err))
		f(names);
}

int repo_branch_remove(const char *path, const char *branch, struct error *err)
{
	typeof(repo_branch_remove) *f;

	return module_find(&module, "repo_branch_remove", &f, err) ? f(path, branch, err) : -1;
}

int repo_state(const char *path, struct repo_state *ret, struct error *err)
{
	typeof(repo_state) *f;

	return module_find(&module, "repo_state", &f, err) ? f(path, ret, err) : -1;
}

int repo_verify(const char *path, repo_told *told, void *arg, char ret_commit[REPO_COMMIT_SIZE],
	size_t *ret_files, struct error *err)
{
	typeof(repo_verify) *f;

	return module_find(&module, "repo_verify", &f, err)
		       ? f(path, told, arg, ret_commit, ret_files, err)
		       : -1;
}
