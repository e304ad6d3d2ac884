/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory tree in the order of an image: see walk.h.
 *
 * How it works. In each directory a subdirectory stands for two items, itself ("a") and what it
 * holds ("a/"). Sorted as text these fall where they have to be: everything below "a/" compares
 * with the names beside it as "a/" does. So no more is in memory than the names on the way down.
 */
#include "cas/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/deep.h"
#include "cas/tar.h"

struct item {
	char *name; /* with a slash at the end: what the directory holds */
	mode_t type;
};

struct items {
	struct item *list;
	size_t count, room;
};

struct walk {
	enum snapshot_git git;
	walk_visit *visit;
	void *context;
	struct error *err;
	struct bytes path; /* of the directory, with its slash; no NUL */
	uint64_t entries;
};

/* Where we are in a git directory. */
enum place { OUTSIDE, GIT_TOP, GIT_BELOW };

static void items_finish(struct items *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->list[i].name);
	free(l->list);
	*l = (struct items){0};
}

static void walk_finish(struct walk *w)
{
	bytes_finish(&w->path);
}

static void add(struct items *l, char *name, mode_t type)
{
	if (l->count == l->room) {
		l->room = l->room * 2 + 32;
		l->list = mem_grow(l->list, l->room, sizeof(*l->list));
	}
	l->list[l->count++] = (struct item){name, type};
}

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int fail(struct walk *w, const char *what, const char *name)
{
	autofree char *path =
		str_format("%.*s%s", (int)w->path.len, (const char *)w->path.data, name);
	autofree char *safe = str_printable(path, strlen(path), 200);

	return error_sys(w->err, "%s '%s'", what, safe);
}

static int type_of(struct walk *w, int dir, const struct dirent *e, mode_t *ret)
{
	struct stat st;

	*ret = (mode_t)DTTOIF(e->d_type);
	if (e->d_type != DT_UNKNOWN)
		return 0;
	if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(w, "look at", e->d_name);
	*ret = st.st_mode & S_IFMT;
	return 0;
}

/* Every name as it is; directories are doubled later. Takes the descriptor. */
static int list(struct walk *w, int dir, struct items *l)
{
	DIR *CLEANUP(close_dir) stream = fdopendir(dir);

	if (!stream) {
		close(dir);
		return error_sys(w->err, "list a directory");
	}
	for (;;) {
		struct dirent *e;
		mode_t type;

		errno = 0;
		e = readdir(stream);
		if (!e && errno)
			return fail(w, "list", ".");
		if (!e)
			return 0;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->entries > SNAPSHOT_ENTRIES_MAX)
			return error_set(
				w->err, ERR_LIMIT, "more than %d files", SNAPSHOT_ENTRIES_MAX);
		if (type_of(w, dirfd(stream), e, &type) < 0)
			return -1;
		add(l, mem_strdup(e->d_name), type);
	}
}

static bool has(const struct items *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->list[i].name, name) == 0)
			return true;
	return false;
}

/* Names in a git directory that depend on clocks, the host or who looked when. */
static bool is_volatile(const char *name)
{
	static const char *const names[] = {"logs", "hooks", "worktrees", "FETCH_HEAD", "ORIG_HEAD",
		"COMMIT_EDITMSG", "gc.log", "gc.pid"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

/* Whether the policy for .git leaves an entry out. */
static bool is_left_out(const struct walk *w, const struct item *i, enum place place, bool is_top)
{
	bool in_objects =
		w->path.len >= 9 && memmem(w->path.data, w->path.len, "/objects/", 9) != NULL;

	if (w->git == SNAPSHOT_GIT_KEEP)
		return false;
	if (strcmp(i->name, ".git") == 0 && place == OUTSIDE)
		/* A file .git names a directory of this host. */
		return w->git == SNAPSHOT_GIT_DROP || !S_ISDIR(i->type);
	if (place == OUTSIDE)
		return false;
	/* git lets no branch end like this. */
	return ends_with(i->name, ".lock") || (in_objects && str_has_prefix(i->name, "tmp_")) ||
	       (is_top && is_volatile(i->name));
}

/* Leaves out what the policy says, doubles directories, sorts. */
static void arrange(struct walk *w, struct items *l, enum place place, bool is_top)
{
	size_t count = l->count, kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct item *one = &l->list[i];

		if (is_left_out(w, one, place, is_top))
			free(one->name);
		else
			l->list[kept++] = *one;
	}
	l->count = kept;
	for (size_t i = 0; i < kept; i++)
		if (S_ISDIR(l->list[i].type))
			add(l, str_format("%s/", l->list[i].name), S_IFDIR);
	if (l->count > 0)
		qsort(l->list, l->count, sizeof(*l->list), compare);
}

static int visit(struct walk *w, int dir, const struct item *i, bool is_git_index)
{
	size_t len = w->path.len;
	struct walk_entry e = {
		.dir = dir, .name = i->name, .type = i->type, .is_git_index = is_git_index};
	int r;

	bytes_put(&w->path, i->name, strlen(i->name) + 1);
	e.path = (const char *)w->path.data;
	r = w->path.len > TAR_PATH_MAX
		    ? error_set(w->err, ERR_LIMIT, "a path of more than %d bytes", TAR_PATH_MAX)
		    : w->visit(w->context, &e, w->err);
	w->path.len = len;
	return r;
}

static int walk_dir(struct walk *w, int dir, enum place place, unsigned depth);

/* What a directory holds; the item's name has the slash. */
static int descend(struct walk *w, int dir, const struct item *i, enum place place, unsigned depth)
{
	autofree char *name = mem_strndup(i->name, strlen(i->name) - 1);
	size_t len = w->path.len;
	int below, r;

	if (depth == SNAPSHOT_DEPTH_MAX)
		return error_set(w->err, ERR_LIMIT, "more than %d directories below each other",
			SNAPSHOT_DEPTH_MAX);
	if (place != OUTSIDE)
		place = GIT_BELOW;
	else if (w->git == SNAPSHOT_GIT_NORMALISE && strcmp(name, ".git") == 0)
		place = GIT_TOP;
	below = deep_open(dir, name);
	if (below < 0 && errno == EXDEV) {
		fail(w, "look into", name);
		w->err->code = ERR_UNSUPPORTED;
		return error_wrap(w->err, "something is mounted in the tree");
	}
	if (below < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)) {
		fail(w, "open", name);
		w->err->code = ERR_BUSY;
		return error_wrap(w->err, "the tree changed while it was read");
	}
	if (below < 0)
		return fail(w, "open", name);
	bytes_put(&w->path, i->name, strlen(i->name));
	r = walk_dir(w, below, place, depth + 1);
	w->path.len = len;
	return r;
}

/* Takes the descriptor. */
static int walk_dir(struct walk *w, int dir, enum place place, unsigned depth)
{
	autoclose int held = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	struct items CLEANUP(items_finish) l = {0};
	bool is_top;

	if (list(w, dir, &l) < 0)
		return -1;
	if (held < 0)
		return error_sys(w->err, "open a directory");
	/* Those of submodules lie in .git/modules. */
	is_top = place == GIT_TOP || (place == GIT_BELOW && has(&l, "HEAD") && has(&l, "objects"));
	arrange(w, &l, place, is_top);
	for (size_t i = 0; i < l.count; i++) {
		const struct item *one = &l.list[i];
		bool is_index = is_top && S_ISREG(one->type) && strcmp(one->name, "index") == 0;
		bool is_inside = one->name[strlen(one->name) - 1] == '/';

		if ((is_inside ? descend(w, held, one, place, depth)
			       : visit(w, held, one, is_index)) < 0)
			return -1;
	}
	return 0;
}

int walk_tree(
	int dir, enum snapshot_git git, walk_visit *visit_entry, void *context, struct error *err)
{
	struct error unused = {0};
	struct walk CLEANUP(walk_finish) w = {
		.git = git, .visit = visit_entry, .context = context, .err = err ? err : &unused};
	int top = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		return error_sys(err, "open a directory");
	return walk_dir(&w, top, OUTSIDE, 0);
}

int walk_fail(const char *what, const struct walk_entry *e, struct error *err)
{
	autofree char *safe = str_printable(e->path, strlen(e->path), 200);

	if (errno == ENOENT || errno == ELOOP || errno == ENXIO || errno == ENOTDIR)
		return error_set(err, ERR_BUSY, "'%s' changed while it was read", safe);
	return error_sys(err, "%s '%s'", what, safe);
}

int walk_changed(const struct walk_entry *e, struct error *err)
{
	errno = ENOENT;
	return walk_fail("read", e, err);
}
