/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a commit: see files.h. A tree is anybody's, so that names which lead elsewhere are
 * refused, and every directory is opened below the last one without following anything.
 */
#include "git/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { DEPTH_MAX = 256, ENTRIES_MAX = 2000000 };

int files_check_sparse(const struct repo_source *s, struct error *err)
{
	for (size_t i = 0; i < s->sparse_count; i++) {
		const char *path = s->sparse[i];

		for (const char *p = path;; p++) {
			size_t len = strcspn(p, "/");

			if (len == 0 || (len == 1 && p[0] == '.') ||
				(len == 2 && p[0] == '.' && p[1] == '.'))
				return error_set(err, ERR_USAGE,
					"'%.200s' is no path from the top of a repository", path);
			p += len;
			if (!*p)
				break;
		}
	}
	return 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool files_is_wanted(const struct repo_source *s, const char *path)
{
	for (size_t i = 0; i < s->sparse_count; i++)
		if (is_below(path, s->sparse[i]))
			return true;
	return s->sparse_count == 0;
}

/* Whether something in a directory may be wanted. */
static bool is_on_the_way(const struct repo_source *s, const char *path)
{
	for (size_t i = 0; i < s->sparse_count; i++)
		if (is_below(s->sparse[i], path))
			return true;
	return files_is_wanted(s, path);
}

static int fail(const char *path, struct error *err)
{
	autofree char *safe = str_printable(path, strlen(path), 200);

	return error_sys(err, "make '%s'", safe);
}

static int check_name(const char *name, struct error *err)
{
	if (!name[0] || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		strcasecmp(name, ".git") == 0) {
		autofree char *safe = str_printable(name, strlen(name), 100);

		return error_set(err, ERR_FORMAT, "the commit has a file named '%s'", safe);
	}
	return 0;
}

struct writing {
	git_repository *repo;
	const struct repo_source *source;
};

static int write_blob(const struct writing *w, const git_tree_entry *e, const char *path, int dir,
	struct error *err)
{
	const char *name = git_tree_entry_name(e);
	git_filemode_t mode = git_tree_entry_filemode(e);
	autoclose int fd = -1;
	git_blob *blob = NULL;
	int r = git_blob_lookup(&blob, w->repo, git_tree_entry_id(e));
	size_t size;

	if (r < 0)
		return lib_error(r, err, "read '%.200s'", path);
	size = (size_t)git_blob_rawsize(blob);
	if (mode == GIT_FILEMODE_LINK) {
		autofree char *target = mem_strndup(git_blob_rawcontent(blob), size);

		r = symlinkat(target, dir, name) < 0 ? fail(path, err) : 0;
	} else {
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 || fchmod(fd, mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644) < 0)
			r = fail(path, err);
		else
			r = fd_write_all(fd, git_blob_rawcontent(blob), size, err);
	}
	git_blob_free(blob);
	return r;
}

static int write_tree(const struct writing *w, const git_tree *tree, const char *prefix, int dir,
	unsigned depth, struct error *err);

static int write_directory(const struct writing *w, const git_tree_entry *e, const char *path,
	int dir, unsigned depth, struct error *err)
{
	const char *name = git_tree_entry_name(e);
	auto_git_tree git_tree *tree = NULL;
	autoclose int below = -1;
	int r;

	if (depth == DEPTH_MAX)
		return error_set(
			err, ERR_LIMIT, "more than %d directories below each other", DEPTH_MAX);
	if (mkdirat(dir, name, 0700) < 0)
		return fail(path, err);
	below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0 || fchmod(below, 0755) < 0)
		return fail(path, err);
	/* A submodule is another repository's. */
	if (git_tree_entry_type(e) == GIT_OBJECT_COMMIT)
		return 0;
	r = git_tree_lookup(&tree, w->repo, git_tree_entry_id(e));
	if (r < 0)
		return lib_error(r, err, "read '%.200s'", path);
	return write_tree(w, tree, path, below, depth + 1, err);
}

static int write_tree(const struct writing *w, const git_tree *tree, const char *prefix, int dir,
	unsigned depth, struct error *err)
{
	for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(e);
		autofree char *path =
			prefix[0] ? str_format("%s/%s", prefix, name) : mem_strdup(name);
		git_object_t type = git_tree_entry_type(e);
		int r;

		if (check_name(name, err) < 0)
			return -1;
		if (type == GIT_OBJECT_BLOB)
			r = files_is_wanted(w->source, path) ? write_blob(w, e, path, dir, err) : 0;
		else
			r = is_on_the_way(w->source, path)
				    ? write_directory(w, e, path, dir, depth, err)
				    : 0;
		if (r < 0)
			return -1;
	}
	return 0;
}

/*
 * Before anything is made: a few trees that have each other many times over are a commit of any
 * number of files. What is not wanted counts too, for the index has all.
 */
static int count_tree(git_repository *repo, const git_tree *tree, unsigned depth, size_t *count,
	struct error *err)
{
	size_t entries = git_tree_entrycount(tree);

	if (depth > DEPTH_MAX)
		return error_set(
			err, ERR_LIMIT, "more than %d directories below each other", DEPTH_MAX);
	*count += entries;
	if (*count > ENTRIES_MAX)
		return error_set(err, ERR_LIMIT, "the commit has more than %d files", ENTRIES_MAX);
	for (size_t i = 0; i < entries; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, i);
		auto_git_tree git_tree *below = NULL;
		int r;

		if (git_tree_entry_type(e) != GIT_OBJECT_TREE)
			continue;
		r = git_tree_lookup(&below, repo, git_tree_entry_id(e));
		if (r < 0)
			return lib_error(r, err, "read a directory of the commit");
		if (count_tree(repo, below, depth + 1, count, err) < 0)
			return -1;
	}
	return 0;
}

int files_write(git_repository *repo, git_tree *tree, const struct repo_source *s, int dir,
	struct error *err)
{
	struct writing w = {repo, s};
	size_t count = 0;

	if (count_tree(repo, tree, 0, &count, err) < 0)
		return -1;
	return write_tree(&w, tree, "", dir, 0, err);
}

int files_index(
	git_repository *repo, git_tree *tree, const struct repo_source *s, struct error *err)
{
	auto_index git_index *index = NULL;
	int r = git_repository_index(&index, repo);

	if (r == 0)
		r = git_index_read_tree(index, tree);
	for (size_t i = 0; r == 0 && i < git_index_entrycount(index); i++) {
		git_index_entry copy = *git_index_get_byindex(index, i);

		if (files_is_wanted(s, copy.path))
			continue;
		copy.flags |= GIT_INDEX_ENTRY_EXTENDED;
		copy.flags_extended |= GIT_INDEX_ENTRY_SKIP_WORKTREE;
		r = git_index_add(index, &copy);
	}
	if (r == 0)
		r = git_index_write(index);
	return r < 0 ? lib_error(r, err, "write the index") : 0;
}

int files_open_empty(const char *dir, int *ret, bool *ret_made, struct error *err)
{
	auto_names struct beneath_names names = {0};
	bool made = mkdir(dir, 0755) == 0;
	autoclose int fd = -1;

	if (!made && errno != EEXIST)
		return error_sys(err, "make '%.200s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open '%.200s'", dir);
	if (beneath_list(fd, 1, &names, NULL) < 0 || names.count > 0)
		return error_set(err, ERR_USAGE, "'%.200s' is not empty", dir);
	*ret = take_fd(fd);
	*ret_made = made;
	return 0;
}
