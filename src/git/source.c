/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a source may lead: see source.h.
 *
 * How it works. What a repository is made of may lie elsewhere: a file or link `.git`, `commondir`,
 * alternates, links among the objects. The one such thing that is taken for what it is, is a linked
 * worktree, of which its repository knows: that names the worktree in a file that only who may
 * write there can have written.
 */
#include "git/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

enum { ENTRIES_MAX = 10000000 };

static int leads_out(const struct repo_source *s, const char *what, struct error *err)
{
	autofree char *safe = str_printable(what, strlen(what), 160);

	return error_set(err, ERR_ESCAPE,
		"the repository '%.160s' leads to another place by '%s'; set repo.trust if that is "
		"meant",
		s->path, safe);
}

static int check_owner(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_sys(err, "look at '%.200s'", path);
	if (geteuid() != 0 && st.st_uid != geteuid() && st.st_uid != 0)
		return error_set(err, ERR_ESCAPE,
			"'%.200s' belongs to another user (%u), who may have made it lead "
			"anywhere; "
			"set repo.trust if that is meant",
			path, (unsigned)st.st_uid);
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The line that a small file holds (caller frees), or NULL. */
static char *read_line(const char *dir, const char *name)
{
	autofree char *path = path_join(dir, name);
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	if (fd < 0 || fd_slurp(fd, PATH_MAX, &text, &len, NULL) < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* `admin` is COMMON/worktrees/NAME and says that it is the one of this directory. */
static bool is_worktree(const char *dir, const char *admin, const char *common)
{
	autofree char *back = read_line(admin, "gitdir"), *git = path_join(dir, ".git");
	autofree char *tidy = path_tidy(admin), *parent = path_dirname(tidy);
	autofree char *all = path_join(common, "worktrees");

	return back && back[0] == '/' && is_same(back, git) && is_same(parent, all);
}

/* No entry of the directory, nor of those in it down to `depth`, is a link. */
static int check_links(const struct repo_source *s, int dir, int depth, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, ENTRIES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		autoclose int below = -1;
		struct stat st;

		if (fstatat(dir, names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISLNK(st.st_mode))
			return leads_out(s, names.items[i], err);
		if (!S_ISDIR(st.st_mode) || depth == 0)
			continue;
		below = beneath_open(dir, names.items[i], O_RDONLY | O_DIRECTORY, 0);
		if (below < 0)
			return error_sys(err, "look into '%.200s'", s->path);
		if (check_links(s, below, depth - 1, err) < 0)
			return -1;
	}
	return 0;
}

static int check_objects(const struct repo_source *s, const char *common, struct error *err)
{
	static const char *const lists[] = {"info/alternates", "info/http-alternates"};
	autofree char *path = path_join(common, "objects");
	autoclose int objects = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (objects < 0)
		return errno == ELOOP || errno == ENOTDIR ? leads_out(s, "objects", err)
							  : error_sys(err, "open '%.200s'", path);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (faccessat(objects, lists[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return leads_out(s, lists[i], err);
	return check_links(s, objects, 1, err);
}

static int check(const struct repo_source *s, git_repository *repo, struct error *err)
{
	const char *admin = git_repository_path(repo), *common = git_repository_commondir(repo);
	autofree char *git = path_join(s->path, ".git");
	struct stat st;

	if (check_owner(s->path, err) < 0 || check_owner(admin, err) < 0 ||
		check_owner(common, err) < 0)
		return -1;
	if (is_same(admin, common)) {
		bool is_plain = lstat(git, &st) == 0 && S_ISDIR(st.st_mode) && is_same(admin, git);

		if (!is_plain && !is_same(admin, s->path))
			return leads_out(s, ".git", err);
	} else if (!is_worktree(s->path, admin, common)) {
		return leads_out(
			s, lstat(git, &st) == 0 && S_ISREG(st.st_mode) ? ".git" : "commondir", err);
	}
	return check_objects(s, common, err);
}

int source_open(const struct repo_source *s, git_repository **ret, struct error *err)
{
	auto_repo git_repository *repo = NULL;

	if (lib_open(s->path, &repo, err) < 0 || (!s->trusted && check(s, repo, err) < 0))
		return -1;
	*ret = repo;
	repo = NULL;
	return 0;
}
