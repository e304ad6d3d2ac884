/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a working tree is exactly a commit: see repo.h.
 *
 * How it works. Neither the index nor any ignore file is asked what is clean: both can lie (the
 * bits assume-unchanged and skip-worktree, the times of files, an excludes file). The commit's
 * trees are read from the objects, whose hashes libgit2 verifies, and each directory of the working
 * tree is held against its tree, file by file and byte by byte. What is there and not in the tree
 * is extra, be it untracked or ignored. The index is compared with the tree besides: what is
 * staged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "git/lib.h"

enum { DEPTH_MAX = 128, NAMES_MAX = 1000000, LINK_MAX = 4096, POINTER_MAX = 1024 };

struct verifying {
	git_repository *repo;
	git_odb *odb;
	repo_told *told;
	void *arg;
	size_t files;
};

static void tell(struct verifying *v, enum repo_difference what, const char *path)
{
	v->told(v->arg, what, path);
}

static void free_odb(git_odb **odb)
{
	git_odb_free(*odb);
}

/* A file of the large file storage is a small text in the commit that names the real content. */
static bool is_pointer(git_repository *repo, const git_oid *id)
{
	static const char head[] = "version https://git-lfs.github.com/spec/";
	git_blob *blob = NULL;
	bool is = false;

	if (git_blob_lookup(&blob, repo, id) < 0)
		return false;
	if (git_blob_rawsize(blob) > (git_object_size_t)strlen(head) &&
		git_blob_rawsize(blob) <= POINTER_MAX)
		is = memcmp(git_blob_rawcontent(blob), head, strlen(head)) == 0;
	git_blob_free(blob);
	return is;
}

/* 1 when the bytes of the open file are the blob's, 0 when not. */
static int has_content(
	struct verifying *v, int fd, const struct stat *st, const git_oid *id, struct error *err)
{
	git_object_t type;
	git_oid found;
	size_t size;
	void *data;
	int r = git_odb_read_header(&size, &type, v->odb, id);

	if (r < 0)
		return lib_error(r, err, "read an object of the commit");
	if (st->st_size < 0 || (uint64_t)st->st_size != size)
		return 0;
	if (size == 0) {
		r = git_odb_hash(&found, "", 0, GIT_OBJECT_BLOB);
	} else {
		data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			return error_sys(err, "read a file of the checkout");
		r = git_odb_hash(&found, data, size, GIT_OBJECT_BLOB);
		munmap(data, size);
	}
	return r < 0 ? lib_error(r, err, "hash a file") : git_oid_equal(&found, id);
}

static int check_file(
	struct verifying *v, int dir, const git_tree_entry *e, const char *path, struct error *err)
{
	bool is_executable = git_tree_entry_filemode(e) == GIT_FILEMODE_BLOB_EXECUTABLE;
	const git_oid *id = git_tree_entry_id(e);
	struct stat st;
	autoclose int fd = beneath_open_file(dir, git_tree_entry_name(e), &st);
	int same;

	v->files++;
	if (fd < 0) {
		tell(v, errno == ENOENT ? REPO_DELETED : REPO_MODIFIED, path);
		return 0;
	}
	same = has_content(v, fd, &st, id, err);
	if (same < 0)
		return -1;
	if (is_pointer(v->repo, id))
		tell(v, same ? REPO_LFS_POINTER : REPO_LFS_CONTENT, path);
	else if (!same)
		tell(v, REPO_MODIFIED, path);
	if (same && is_executable != ((st.st_mode & S_IXUSR) != 0))
		tell(v, REPO_MODIFIED, path);
	return 0;
}

static int check_link(
	struct verifying *v, int dir, const git_tree_entry *e, const char *path, struct error *err)
{
	char target[LINK_MAX + 1];
	ssize_t len = readlinkat(dir, git_tree_entry_name(e), target, sizeof(target));
	git_oid found;
	int r;

	v->files++;
	if (len < 0 || len > LINK_MAX) {
		tell(v, len < 0 && errno == ENOENT ? REPO_DELETED : REPO_MODIFIED, path);
		return 0;
	}
	r = git_odb_hash(&found, target, (size_t)len, GIT_OBJECT_BLOB);
	if (r < 0)
		return lib_error(r, err, "hash a link");
	if (!git_oid_equal(&found, git_tree_entry_id(e)))
		tell(v, REPO_MODIFIED, path);
	return 0;
}

/* The commit names another repository's commit and nothing of its files. */
static int check_submodule(
	struct verifying *v, int dir, const git_tree_entry *e, const char *path, struct error *err)
{
	autoclose int fd = beneath_open(dir, git_tree_entry_name(e), O_RDONLY | O_DIRECTORY, 0);
	auto_names struct beneath_names names = {0};

	if (fd < 0) {
		tell(v, errno == ENOENT ? REPO_SUBMODULE : REPO_MODIFIED, path);
		return 0;
	}
	if (beneath_list(fd, NAMES_MAX, &names, err) < 0)
		return -1;
	tell(v, names.count ? REPO_SUBMODULE_FILES : REPO_SUBMODULE, path);
	return 0;
}

static int check_tree(struct verifying *v, int dir, const git_oid *id, const char *path,
	unsigned depth, struct error *err);

static int check_entry(struct verifying *v, int dir, const git_tree_entry *e, const char *path,
	unsigned depth, struct error *err)
{
	autoclose int below = -1;

	switch (git_tree_entry_filemode(e)) {
	case GIT_FILEMODE_LINK:
		return check_link(v, dir, e, path, err);
	case GIT_FILEMODE_COMMIT:
		return check_submodule(v, dir, e, path, err);
	case GIT_FILEMODE_TREE:
		below = beneath_open(dir, git_tree_entry_name(e), O_RDONLY | O_DIRECTORY, 0);
		if (below >= 0)
			return check_tree(v, below, git_tree_entry_id(e), path, depth + 1, err);
		tell(v, errno == ENOENT ? REPO_DELETED : REPO_MODIFIED, path);
		return 0;
	case GIT_FILEMODE_BLOB:
	case GIT_FILEMODE_BLOB_EXECUTABLE:
	case GIT_FILEMODE_UNREADABLE:
		break;
	}
	return check_file(v, dir, e, path, err);
}

static bool is_gits_own(const char *path, const char *name)
{
	return !path[0] && strcmp(name, ".git") == 0;
}

static char *below(const char *path, const char *name)
{
	return path[0] ? str_format("%s/%s", path, name) : mem_strdup(name);
}

/* What is there without being in the tree. */
static int check_extra(
	struct verifying *v, int dir, git_tree *tree, const char *path, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, NAMES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		autofree char *whole = below(path, names.items[i]);

		if (!is_gits_own(path, names.items[i]) &&
			!git_tree_entry_byname(tree, names.items[i]))
			tell(v, REPO_EXTRA, whole);
	}
	return 0;
}

static int check_tree(struct verifying *v, int dir, const git_oid *id, const char *path,
	unsigned depth, struct error *err)
{
	auto_git_tree git_tree *tree = NULL;
	int r = git_tree_lookup(&tree, v->repo, id);

	if (r < 0)
		return lib_error(r, err, "read a tree of the commit");
	if (depth > DEPTH_MAX)
		return error_set(err, ERR_LIMIT, "the commit is deeper than %d levels", DEPTH_MAX);
	for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		autofree char *whole = below(path, git_tree_entry_name(e));

		if (check_entry(v, dir, e, whole, depth, err) < 0)
			return -1;
	}
	return check_extra(v, dir, tree, path, err);
}

static int tell_staged(const git_diff_delta *d, float progress, void *arg)
{
	(void)progress;
	tell(arg, REPO_STAGED, d->new_file.path ? d->new_file.path : d->old_file.path);
	return 0;
}

static int check_index(struct verifying *v, git_commit *commit, struct error *err)
{
	auto_git_tree git_tree *tree = NULL;
	auto_index git_index *index = NULL;
	git_diff *diff = NULL;
	int r = git_commit_tree(&tree, commit);

	if (r == 0)
		r = git_repository_index(&index, v->repo);
	if (r == 0)
		r = git_diff_tree_to_index(&diff, v->repo, tree, index, NULL);
	if (r == 0)
		r = git_diff_foreach(diff, tell_staged, NULL, NULL, NULL, v);
	git_diff_free(diff);
	return r < 0 ? lib_error(r, err, "compare the index with the commit") : 0;
}

int repo_verify(const char *path, repo_told *told, void *arg, char ret_commit[REPO_COMMIT_SIZE],
	size_t *ret_files, struct error *err)
{
	auto_guard struct lib_guard guard = lib_guard();
	auto_repo git_repository *repo = NULL;
	auto_commit git_commit *commit = NULL;
	git_odb *CLEANUP(free_odb) odb = NULL;
	autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct verifying v = {.told = told, .arg = arg};
	int r;

	if (dir < 0)
		return error_sys(err, "open '%.200s'", path);
	if (lib_open(path, &repo, err) < 0)
		return -1;
	if (git_repository_is_bare(repo))
		return error_set(err, ERR_USAGE, "'%.200s' has no working tree", path);
	r = lib_find_commit(repo, NULL, &commit, err);
	if (r <= 0)
		return r < 0 ? -1 : error_set(err, ERR_MISSING, "'%.200s' has no commit", path);
	r = git_repository_odb(&odb, repo);
	if (r < 0)
		return lib_error(r, err, "open the objects of '%.200s'", path);
	v.repo = repo;
	v.odb = odb;
	git_oid_tostr(ret_commit, REPO_COMMIT_SIZE, git_commit_id(commit));
	if (check_tree(&v, dir, git_commit_tree_id(commit), "", 0, err) < 0 ||
		check_index(&v, commit, err) < 0)
		return -1;
	*ret_files = v.files;
	return 0;
}
