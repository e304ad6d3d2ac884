/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a workspace that is a directory of this host: see inside.h. */
#include "sandbox/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"
#include "base/str.h"

enum { DEPTH_MAX = 256, LINKS_MAX = 40, PARENT_MODE = 0755, NAMES_MAX = 1000000 };

/*
 * A walk: the directories from the workspace down to where it stands, and what of the path is left.
 * ".." goes back to a directory that was passed, never to what the file system calls the parent.
 */
struct walk {
	const struct inside *in;
	const char *given; /* for messages */
	bool makes_parents;
	int fds[DEPTH_MAX];
	char *names[DEPTH_MAX]; /* of fds[i] in fds[i - 1] */
	int depth;
	char *rest;	/* owned */
	char *last;	/* owned: the name that the walk ended at, "." for where it stands */
	struct stat st; /* of it; st_mode 0: it is absent */
	int links;
};

static void walk_finish(struct walk *w)
{
	for (int i = 0; i < w->depth; i++) {
		close(w->fds[i]);
		free(w->names[i]);
	}
	free(w->rest);
	free(w->last);
	*w = (struct walk){0};
}
#define auto_walk CLEANUP(walk_finish)

static int here(const struct walk *w)
{
	return w->depth ? w->fds[w->depth - 1] : w->in->dir;
}

static int escapes(const struct walk *w, struct error *err)
{
	return error_set(err, ERR_ESCAPE, "'%.300s' leads out of the workspace", w->given);
}

/* An absolute path, of the caller or of a link: what follows the root, from the top. */
static int from_top(struct walk *w, const char *path, char **ret_rest, struct error *err)
{
	autofree char *tidy = path_tidy(path);
	size_t len = strlen(w->in->root);

	if (!path_is_in(tidy, w->in->root))
		return escapes(w, err);
	/* Tidied as text only to see where it leads; its own ".." are walked. */
	if (strncmp(path, w->in->root, len) != 0 || (path[len] && path[len] != '/'))
		*ret_rest = mem_strdup(tidy + len);
	else
		*ret_rest = mem_strdup(path + len);
	while (w->depth) {
		close(w->fds[--w->depth]);
		free(w->names[w->depth]);
	}
	return 0;
}

/* Takes the next name off the rest; false at its end. */
static bool next_name(struct walk *w, char **ret)
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(p, "/");

	if (!len)
		return false;
	*ret = mem_strndup(p, len);
	memmove(w->rest, p + len, strlen(p + len) + 1);
	return true;
}

static bool is_last(const struct walk *w)
{
	return !w->rest[strspn(w->rest, "/")];
}

static int follow(struct walk *w, const char *name, struct error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(here(w), name, target, sizeof(target) - 1);
	char *rest = NULL;

	if (n < 0)
		return error_sys(err, "'%.300s'", w->given);
	target[n] = '\0';
	if (++w->links > LINKS_MAX)
		return error_set(err, ERR_SYSTEM, "'%.300s': more than %d symbolic links", w->given,
			LINKS_MAX);
	if (target[0] == '/') {
		autofree char *top = NULL;

		if (from_top(w, target, &top, err) < 0)
			return -1;
		rest = str_format("%s/%s", top, w->rest);
	} else {
		rest = str_format("%s/%s", target, w->rest);
	}
	free(w->rest);
	w->rest = rest;
	return 0;
}

static int enter(struct walk *w, const char *name, struct error *err)
{
	int fd;

	if (w->depth == DEPTH_MAX)
		return error_set(err, ERR_LIMIT, "'%.300s' is more than %d directories deep",
			w->given, DEPTH_MAX);
	fd = openat(here(w), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "'%.300s'", w->given);
	w->fds[w->depth] = fd;
	w->names[w->depth++] = mem_strdup(name);
	return 0;
}

/* What is absent in the middle is made when parents shall be. */
static int absent(struct walk *w, const char *name, struct error *err)
{
	if (is_last(w)) {
		w->last = mem_strdup(name);
		w->st = (struct stat){0};
		return 0;
	}
	if (!w->makes_parents)
		return error_set(err, ERR_MISSING, "'%.300s' does not exist", w->given);
	if (mkdirat(here(w), name, PARENT_MODE) < 0 && errno != EEXIST)
		return error_sys(err, "'%.300s': make its directory", w->given);
	if (enter(w, name, err) < 0)
		return -1;
	/* Whatever the umask of the caller is. */
	return fchmodat(here(w), ".", PARENT_MODE, 0) < 0
		       ? error_sys(err, "'%.300s': make its directory", w->given)
		       : 0;
}

static int step(struct walk *w, const char *name, struct error *err)
{
	struct stat st;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		if (!w->depth)
			return escapes(w, err);
		close(w->fds[--w->depth]);
		free(w->names[w->depth]);
		return 0;
	}
	if (fstatat(here(w), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return error_sys(err, "'%.300s'", w->given);
		return absent(w, name, err);
	}
	if (S_ISLNK(st.st_mode))
		return follow(w, name, err);
	if (S_ISDIR(st.st_mode))
		return enter(w, name, err);
	if (!is_last(w))
		return error_set(
			err, ERR_NOT_DIR, "'%.300s': '%.100s' is no directory", w->given, name);
	w->last = mem_strdup(name);
	w->st = st;
	return 0;
}

/* Walks the whole path; here(w) and w->last then say where it ended. */
static int walk(struct walk *w, const struct inside *in, const char *path, bool makes_parents,
	struct error *err)
{
	*w = (struct walk){.in = in, .given = path, .makes_parents = makes_parents};
	if (strlen(path) >= PATH_MAX)
		return error_set(err, ERR_LIMIT, "a path of %zu bytes", strlen(path));
	if (path[0] == '/') {
		if (from_top(w, path, &w->rest, err) < 0)
			return -1;
	} else {
		w->rest = mem_strdup(path);
	}
	while (!w->last) {
		autofree char *name = NULL;

		if (!next_name(w, &name))
			break;
		if (step(w, name, err) < 0)
			return -1;
	}
	if (w->last)
		return 0;
	w->last = mem_strdup(".");
	w->st.st_mode = S_IFDIR;
	return 0;
}

int inside_read(const struct inside *in, const char *path, size_t max, char **ret, size_t *ret_len,
	struct error *err)
{
	auto_walk struct walk w = {0};
	autoclose int fd = -1;
	struct stat st;

	if (walk(&w, in, path, false, err) < 0)
		return -1;
	if (!w.st.st_mode)
		return error_set(err, ERR_MISSING, "'%.300s' does not exist", path);
	if (S_ISDIR(w.st.st_mode))
		return error_set(err, ERR_IS_DIR, "'%.300s' is a directory", path);
	fd = beneath_open_file(here(&w), w.last, &st);
	if (fd < 0 && errno == ENXIO)
		return error_set(err, ERR_UNSUPPORTED, "'%.300s' is no regular file", path);
	if (fd < 0)
		return error_sys(err, "'%.300s'", path);
	return fd_slurp(fd, max, ret, ret_len, err) < 0 ? error_wrap(err, "'%.300s'", path) : 0;
}

static int put_data(const struct walk *w, int fd, const void *data, size_t len, unsigned mode,
	struct error *err)
{
	if (fd_write_all(fd, data, len, err) < 0)
		return error_wrap(err, "'%.300s'", w->given);
	return fchmod(fd, (mode_t)mode) < 0 ? error_sys(err, "'%.300s'", w->given) : 0;
}

/* 0: it is in place; 1: it cannot be from there. */
static int move_in(const struct walk *w, int from, const char *name, struct error *err)
{
	if (fault_point("sandbox: put a file in place") == 0 &&
		renameat(from, name, here(w), w->last) == 0)
		return 0;
	return errno == EXDEV ? 1 : error_sys(err, "'%.300s'", w->given);
}

/* By a name outside the workspace, where neither the guest nor a snapshot would see it. */
static int replace_from(const struct walk *w, const void *data, size_t len, unsigned mode,
	const char *temp, struct error *err)
{
	int staging = w->in->staging, r;
	autoclose int fd =
		staging < 0 ? -1
			    : openat(staging, temp,
				      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (staging < 0)
		return 1;
	if (fd < 0)
		return error_sys(err, "'%.300s'", w->given);
	r = put_data(w, fd, data, len, mode, err);
	if (r == 0)
		r = move_in(w, staging, temp, err);
	if (r != 0)
		unlinkat(staging, temp, 0);
	return r;
}

/*
 * What a descriptor alone leads to until it is whole. A file that is there already can only be
 * replaced by one that has a name: between the last two calls a kill leaves it.
 */
static int replace_by_name(const struct walk *w, const void *data, size_t len, unsigned mode,
	const char *temp, struct error *err)
{
	autoclose int fd = openat(here(w), ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	bool is_named = fd < 0;
	char link[32];

	/* One of that name is somebody else's, and stays. */
	if (fd < 0)
		fd = openat(
			here(w), temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "'%.300s'", w->given);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (put_data(w, fd, data, len, mode, err) == 0) {
		if (!is_named && !w->st.st_mode &&
			fault_point("sandbox: put a file in place") == 0 &&
			linkat(AT_FDCWD, link, here(w), w->last, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (!is_named && linkat(AT_FDCWD, link, here(w), temp, AT_SYMLINK_FOLLOW) < 0)
			return error_sys(err, "'%.300s'", w->given);
		is_named = true;
		if (renameat(here(w), temp, here(w), w->last) == 0)
			return 0;
		error_sys(err, "'%.300s'", w->given);
	}
	if (is_named)
		unlinkat(here(w), temp, 0);
	return -1;
}

int inside_write(const struct inside *in, const char *path, const void *data, size_t len,
	unsigned mode, struct error *err)
{
	auto_walk struct walk w = {0};
	char temp[] = ".sandglass-0123456789abcdef";
	int r;

	if (walk(&w, in, path, true, err) < 0)
		return -1;
	if (S_ISDIR(w.st.st_mode))
		return error_set(err, ERR_IS_DIR, "'%.300s' is a directory", path);
	if (w.st.st_mode && !S_ISREG(w.st.st_mode))
		return error_set(err, ERR_UNSUPPORTED, "'%.300s' is no regular file", path);
	/* A name that the guest cannot have taken. */
	random_hex(strchr(temp, '-') + 1, 16);
	r = replace_from(&w, data, len, mode, temp, err);
	return r <= 0 ? r : replace_by_name(&w, data, len, mode, temp, err);
}

int inside_ls(
	const struct inside *in, const char *path, struct sandbox_names *ret, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int fd = -1;

	if (inside_open_dir(in, path, &fd, NULL, err) < 0)
		return -1;
	if (beneath_list(fd, NAMES_MAX, &names, err) < 0)
		return error_wrap(err, "'%.300s'", path);
	*ret = (struct sandbox_names){names.items, names.count};
	names = (struct beneath_names){0};
	return 0;
}

static char *real_path(const struct walk *w)
{
	char *real = mem_strdup("");

	for (int i = 0; i < w->depth; i++) {
		char *longer = str_format("%s%s%s", real, i ? "/" : "", w->names[i]);

		free(real);
		real = longer;
	}
	return real;
}

int inside_open_dir(
	const struct inside *in, const char *path, int *ret_fd, char **ret_real, struct error *err)
{
	auto_walk struct walk w = {0};
	int fd;

	if (walk(&w, in, path, false, err) < 0)
		return -1;
	if (!w.st.st_mode)
		return error_set(err, ERR_MISSING, "'%.300s' does not exist", path);
	if (!S_ISDIR(w.st.st_mode))
		return error_set(err, ERR_NOT_DIR, "'%.300s' is no directory", path);
	fd = openat(here(&w), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "'%.300s'", path);
	*ret_fd = fd;
	if (ret_real)
		*ret_real = real_path(&w);
	return 0;
}
