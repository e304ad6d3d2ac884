/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workspaces in layers: see layers.h.
 *
 * How it works. A layer is a directory of `layers`, beside the sessions: `tree`, and `work` for the
 * kernel while it is written. A session in layers has a file of that name in its home, which lists
 * them; it is replaced in one step, so a fork that is killed has either happened or not. The upper
 * layer of a parent becomes a lower one by that alone, and the parent gets a new one. A plain
 * workspace becomes a layer by a rename, before which the file means nothing: a home with a
 * workspace is a plain one. What no list names is swept up, under the lock of the directory.
 */
#include "sandbox/layers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/dir.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/random.h"
#include "base/remove.h"
#include "base/str.h"
#include "codec/json.h"
#include "sandbox/unfit.h"

#define FORMAT "sandglass.layers/1"
#define LIST "layers"

enum { LIST_MAX = 64 * 1024, NAME_SIZE = 16, NAMES_MAX = 10000000 };

/* Names of layers. */
struct list {
	char lower[OVERLAY_LAYERS_MAX][NAME_SIZE]; /* the uppermost first */
	size_t lower_count;
	char upper[NAME_SIZE];
};

/* `layers`, locked against all others who make or sweep. */
struct store {
	char *path;
	int dir;
};

static void store_close(struct store *st)
{
	fd_close(&st->dir);
	free(st->path);
	*st = (struct store){.dir = -1};
}
#define auto_store CLEANUP(store_close)

/* Homes are SESSIONS/ID/ID. */
static char *store_path(const struct sandbox *s)
{
	autofree char *session = path_dirname(s->home), *sessions = path_dirname(session);

	return path_join(sessions, LIST);
}

static int store_open(const struct sandbox *s, struct store *ret, struct error *err)
{
	auto_store struct store st = {.path = store_path(s), .dir = -1};

	if (dir_make(st.path, err) < 0)
		return -1;
	st.dir = open(st.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (st.dir < 0 || flock(st.dir, LOCK_EX) < 0)
		return error_sys(err, "'%.300s'", st.path);
	*ret = st;
	st = (struct store){.dir = -1};
	return 0;
}

static bool is_name(const char *text)
{
	return text && strlen(text) == 14 && str_has_prefix(text, "l-") &&
	       strspn(text + 2, "0123456789abcdef") == 12;
}

static int decode(const char *text, size_t len, struct list *ret, struct error *err)
{
	auto_json json_t *value = NULL;
	const char *format, *upper;
	json_t *lower;

	if (json_read(text, len, LIST_MAX, &value, err) < 0)
		return -1;
	format = json_string_value(json_object_get(value, "format"));
	upper = json_string_value(json_object_get(value, "upper"));
	lower = json_object_get(value, "lower");
	if (!format || strcmp(format, FORMAT) != 0 || !is_name(upper) || !json_is_array(lower) ||
		json_array_size(lower) > OVERLAY_LAYERS_MAX)
		return error_set(err, ERR_FORMAT, "the list of layers is none of " FORMAT);
	*ret = (struct list){.lower_count = json_array_size(lower)};
	snprintf(ret->upper, NAME_SIZE, "%s", upper);
	for (size_t i = 0; i < ret->lower_count; i++) {
		const char *name = json_string_value(json_array_get(lower, i));

		if (!is_name(name))
			return error_set(err, ERR_FORMAT, "the list of layers is malformed");
		snprintf(ret->lower[i], NAME_SIZE, "%s", name);
	}
	return 0;
}

/* 1, or 0 when the home has no list, or a workspace that makes it void. */
static int list_find(int home, struct list *ret, struct error *err)
{
	autofree char *text = NULL;
	struct stat st;
	autoclose int fd = -1;
	size_t len;

	if (fstatat(home, "workspace", &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	fd = beneath_open_file(home, LIST, &st);
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "the list of layers");
	if (fd_slurp(fd, LIST_MAX, &text, &len, err) < 0 || decode(text, len, ret, err) < 0)
		return -1;
	return 1;
}

static int home_open(const struct sandbox *s, int *ret, struct error *err)
{
	*ret = open(s->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? error_sys(err, "'%.300s'", s->home) : 0;
}

static int list_write(int home, const struct list *l, struct error *err)
{
	auto_json json_t *value = json_object();
	json_t *lower = json_array();
	autofree char *text = NULL;
	autoclose int fd = -1;

	for (size_t i = 0; i < l->lower_count; i++)
		json_add(lower, json_str(l->lower[i]));
	json_put(value, "format", json_str(FORMAT));
	json_put(value, "lower", lower);
	json_put(value, "upper", json_str(l->upper));
	text = json_text(value);
	if (fault_point("layers: write the list") < 0)
		return error_sys(err, "write the list of layers");
	fd = openat(home, LIST ".new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, "write the list of layers");
	if (fd_write_all(fd, text, strlen(text), err) < 0)
		return error_wrap(err, "write the list of layers");
	if (fsync(fd) < 0 || fault_point("layers: rename the list") < 0 ||
		renameat(home, LIST ".new", home, LIST) < 0 || fsync(home) < 0)
		return error_sys(err, "write the list of layers");
	return 0;
}

static char *layer_path(const char *store, const char *name, const char *what)
{
	return str_format("%s/%s%s%s", store, name, what ? "/" : "", what ? what : "");
}

/* Lays what the list says; plain, when not NULL, is the path of the lowest layer's tree. */
static int lay(const struct sandbox *s, const char *store, const struct list *l, const char *plain,
	struct overlay *ret, struct error *err)
{
	char *lower[OVERLAY_LAYERS_MAX];
	autofree char *upper = layer_path(store, l->upper, NULL);
	autofree char *holders = path_join(s->home, "holders");
	struct overlay_spec spec = {.holders = holders,
		.lower = (const char *const *)lower,
		.lower_count = l->lower_count,
		.upper = upper};
	int r;

	for (size_t i = 0; i < l->lower_count; i++)
		lower[i] = plain ? mem_strdup(plain) : layer_path(store, l->lower[i], "tree");
	r = overlay_open(&spec, ret, err);
	for (size_t i = 0; i < l->lower_count; i++)
		free(lower[i]);
	return r < 0 ? error_wrap(err, "lay the layers of the workspace") : 0;
}

int layers_open(const struct sandbox *s, struct overlay *ret, struct error *err)
{
	autofree char *store = store_path(s);
	autoclose int home = -1;
	struct list l;
	int found;

	if (home_open(s, &home, err) < 0)
		return -1;
	found = list_find(home, &l, err);
	if (found <= 0)
		return found;
	return lay(s, store, &l, NULL, ret, err) < 0 ? -1 : 1;
}

/* A new layer; with a tree like this directory's (its mode and time) unless that is -1. */
static int layer_make(const struct store *st, int like, char ret[NAME_SIZE], struct error *err)
{
	autoclose int layer = -1, tree = -1;
	struct stat old;

	snprintf(ret, NAME_SIZE, "l-");
	random_hex(ret + 2, 12);
	ret[14] = '\0';
	if (fault_point("layers: make a layer") < 0 || mkdirat(st->dir, ret, 0700) < 0)
		return error_sys(err, "make a layer");
	layer = openat(st->dir, ret, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (layer < 0 || fault_point("layers: fill a layer") < 0 ||
		mkdirat(layer, "work", 0700) < 0)
		return error_sys(err, "make a layer");
	if (like < 0)
		return 0;
	if (mkdirat(layer, "tree", 0700) < 0 || fstat(like, &old) < 0)
		return error_sys(err, "make a layer");
	tree = openat(layer, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0 || fchmod(tree, old.st_mode & 07777) < 0 ||
		futimens(tree, (const struct timespec[]){old.st_mtim, old.st_mtim}) < 0)
		return error_sys(err, "make a layer");
	return 0;
}

/* One level more: its own upper layer, or all of a plain one, becomes the uppermost of the lower.
 */
static void push(struct list *l, const char *name)
{
	memmove(l->lower[1], l->lower[0], l->lower_count * NAME_SIZE);
	memmove(l->lower[0], name, NAME_SIZE);
	l->lower_count++;
}

/* The plain workspace of `from` becomes a layer, once it has shown that it can be one. */
static int convert(const struct store *st, const struct sandbox *from, int home, int tree,
	struct list *ret, struct error *err)
{
	autofree char *plain = path_join(from->home, "workspace"), *to = NULL;
	auto_overlay struct overlay trial = {.tree = -1, .link = -1};
	struct list l = {0};
	char name[NAME_SIZE];
	struct error why = {0};

	if (layer_make(st, -1, name, err) < 0 || layer_make(st, tree, l.upper, err) < 0)
		return -1;
	push(&l, name);
	if (lay(from, st->path, &l, plain, &trial, &why) < 0)
		return remove_tree(st->dir, name, err) < 0 || remove_tree(st->dir, l.upper, err) < 0
			       ? -1
			       : 0;
	overlay_close(&trial);
	to = layer_path(st->path, name, "tree");
	if (list_write(home, &l, err) < 0)
		return -1;
	if (fault_point("layers: convert the workspace") < 0 || rename(plain, to) < 0 ||
		fsync(home) < 0)
		return error_sys(err, "make '%.300s' a layer", plain);
	*ret = l;
	return 1;
}

/* A parent in layers: what it has written since it was forked last becomes one more. */
static int advance(const struct store *st, int home, struct list *l, struct error *err)
{
	autofree char *path = layer_path(st->path, l->upper, "tree");
	autoclose int tree = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_names struct beneath_names names = {0};
	struct list next = *l;
	bool is_small;
	int unfit;

	if (tree < 0)
		return error_sys(err, "'%.300s'", path);
	if (beneath_list(tree, NAMES_MAX, &names, err) < 0)
		return -1;
	if (names.count == 0)
		return 1;
	if (l->lower_count == OVERLAY_LAYERS_MAX)
		return 0;
	unfit = unfit_find(tree, UNFIT_IN_UPPER, &is_small, err);
	if (unfit != 0)
		return unfit < 0 ? -1 : 0;
	push(&next, l->upper);
	if (layer_make(st, tree, next.upper, err) < 0 || list_write(home, &next, err) < 0)
		return -1;
	*l = next;
	return 1;
}

/* 1: *ret is what a child needs below its own upper layer. */
static int prepare(const struct store *st, const struct sandbox *from, bool even_small,
	struct list *ret, struct error *err)
{
	autofree char *plain = path_join(from->home, "workspace");
	autoclose int home = -1, tree = -1;
	bool is_small;
	int r;

	if (home_open(from, &home, err) < 0)
		return -1;
	r = list_find(home, ret, err);
	if (r != 0)
		return r < 0 ? -1 : advance(st, home, ret, err);
	tree = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0)
		return error_sys(err, "'%.300s'", plain);
	r = unfit_find(tree, UNFIT_PLAIN, &is_small, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (is_small && !even_small)
		return 0;
	return convert(st, from, home, tree, ret, err);
}

int layers_fork(struct sandbox *s, struct sandbox *from, bool even_small, struct error *err)
{
	auto_store struct store st = {.dir = -1};
	autoclose int home = -1, like = -1;
	autofree char *upper = NULL;
	struct list l = {0};
	int r;

	if (store_open(from, &st, err) < 0)
		return -1;
	r = prepare(&st, from, even_small, &l, err);
	if (r <= 0)
		return r;
	upper = layer_path(st.path, l.upper, "tree");
	like = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (like < 0)
		return error_sys(err, "'%.300s'", upper);
	if (layer_make(&st, like, l.upper, err) < 0 || home_open(s, &home, err) < 0 ||
		list_write(home, &l, err) < 0)
		return -1;
	return 1;
}

/* Whether some session's list names the layer; 1 also when one of the lists cannot be read. */
struct used {
	char (*names)[NAME_SIZE];
	size_t count;
};

static void used_finish(struct used *u)
{
	free(u->names);
}

static void use(struct used *u, const char *name)
{
	u->names = mem_grow(u->names, u->count + 1, sizeof(*u->names));
	memcpy(u->names[u->count++], name, NAME_SIZE);
}

static bool is_used(const struct used *u, const char *name)
{
	for (size_t i = 0; i < u->count; i++)
		if (strcmp(u->names[i], name) == 0)
			return true;
	return false;
}

/* Every name in every list. */
static int collect(const struct store *st, struct used *u, struct error *err)
{
	autofree char *sessions = path_dirname(st->path);
	auto_names struct beneath_names ids = {0};
	autoclose int dir = open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return error_sys(err, "'%.300s'", sessions);
	if (beneath_list(dir, NAMES_MAX, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.count; i++) {
		autofree char *path = str_format("%s/%s", ids.items[i], ids.items[i]);
		autoclose int home =
			openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct list l;
		int found;

		if (home < 0)
			continue;
		found = list_find(home, &l, err);
		if (found < 0)
			return error_wrap(err, "session '%.40s'", ids.items[i]);
		for (size_t k = 0; found && k < l.lower_count; k++)
			use(u, l.lower[k]);
		if (found)
			use(u, l.upper);
	}
	return 0;
}

/* What goes is renamed first, so that the lock is not held while a large tree is removed. */
static int sweep(struct store *st, struct error *err)
{
	struct used CLEANUP(used_finish) u = {0};
	auto_names struct beneath_names names = {0}, dead = {0};
	autoclose int dir = -1;

	if (beneath_list(st->dir, NAMES_MAX, &names, err) < 0)
		return -1;
	if (names.count == 0)
		return 0;
	if (collect(st, &u, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		char to[NAME_SIZE + 8];

		if (!is_name(names.items[i]) || is_used(&u, names.items[i]))
			continue;
		snprintf(to, sizeof(to), "dead-%.14s", names.items[i]);
		if (fault_point("layers: let go of a layer") < 0 ||
			renameat(st->dir, names.items[i], st->dir, to) < 0)
			return error_sys(err, "remove a layer");
	}
	dir = openat(st->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || beneath_list(st->dir, NAMES_MAX, &dead, err) < 0)
		return error_wrap(err, "remove a layer");
	store_close(st);
	for (size_t i = 0; i < dead.count; i++)
		if (str_has_prefix(dead.items[i], "dead-") &&
			remove_tree(dir, dead.items[i], err) < 0)
			return -1;
	return 0;
}

int layers_destroy(const struct sandbox *s, struct error *err)
{
	autofree char *path = store_path(s);
	auto_store struct store st = {.dir = -1};
	autoclose int home = open(s->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (home >= 0 && fault_point("layers: forget the list") < 0)
		return error_sys(err, "remove the list of layers");
	if (home >= 0 && unlinkat(home, LIST, 0) < 0 && errno != ENOENT)
		return error_sys(err, "remove the list of layers");
	/* Nobody has ever made one. */
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return store_open(s, &st, err) < 0 ? -1 : sweep(&st, err);
}
