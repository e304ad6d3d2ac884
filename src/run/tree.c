/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of files as a list of entries: see tree.h.
 *
 * How it works. One directory at a time, its names sorted. With a base, the same directory of the
 * base is walked beside it: what is the same on both sides is left out, and what only the base has
 * is a deletion - always where root is a whole copy, and in an overlay where it is a whiteout (a
 * character device 0:0) or the directory is opaque. So both kinds of copy give the same list.
 * Nothing is followed and only regular files are opened, since a guest has made the tree.
 */
#include "run/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "codec/json.h"
#include "base/beneath.h"

struct walk {
	const struct tree_source *s;
	tree_visit *visit;
	void *context;
	struct error *err;
	uint64_t entries, bytes;
};

/* One directory on both sides. */
struct place {
	int root, base; /* base -1: not there */
	const char *path;
	unsigned depth;
	bool is_opaque;
};

static enum tree_type type_of(mode_t mode)
{
	static const enum tree_type types[16] = {
		[S_IFREG >> 12] = TREE_FILE,
		[S_IFDIR >> 12] = TREE_DIRECTORY,
		[S_IFLNK >> 12] = TREE_SYMLINK,
		[S_IFSOCK >> 12] = TREE_SOCKET,
		[S_IFIFO >> 12] = TREE_FIFO,
		[S_IFCHR >> 12] = TREE_DEVICE,
		[S_IFBLK >> 12] = TREE_DEVICE,
	};

	return types[(mode & S_IFMT) >> 12];
}

static uint64_t mtime_of(const struct tree_source *s, const struct stat *st)
{
	uint64_t ns = st->st_mtim.tv_sec < 0 ? 0
					     : (uint64_t)st->st_mtim.tv_sec * 1000000000 +
						       (uint64_t)st->st_mtim.tv_nsec;

	return ns >= s->real_from_ns && ns <= s->real_to_ns ? s->now_ns : ns;
}

static int give(struct walk *w, const struct tree_entry *e)
{
	if (++w->entries > TREE_ENTRIES_MAX)
		return error_set(w->err, ERR_LIMIT, "more than %d files", TREE_ENTRIES_MAX);
	return w->visit(w->context, e, w->err);
}

/*
 * A guest may have left something that its owner, who we may be, cannot read. The layer is ours and
 * nobody runs in it any more, so the bits that are missing are lent while it is looked at.
 */
struct lent {
	int dir; /* -1: nothing was lent */
	const char *name;
	mode_t mode;
};

static void lent_return(struct lent *l)
{
	if (l->dir >= 0)
		(void)!fchmodat(l->dir, l->name, l->mode, 0);
	l->dir = -1;
}
#define auto_lent CLEANUP(lent_return)

static struct lent lend(const struct walk *w, const struct tree_entry *e)
{
	struct lent l = {-1, e->name, e->st.st_mode & 07777};
	mode_t needed = S_ISDIR(e->st.st_mode) ? 0500 : 0400;

	if (w->s->is_ours && (l.mode & needed) != needed && e->st.st_uid == geteuid() &&
		fchmodat(e->dir, e->name, l.mode | needed, 0) == 0)
		l.dir = e->dir;
	return l;
}

/* Opens a file into e and digests it; e becomes TREE_UNREAD when that cannot be had. */
static void open_file(struct walk *w, struct tree_entry *e, bool wants_digest)
{
	struct stat st;

	e->fd = beneath_open_file(e->dir, e->name, &st);
	w->bytes += (uint64_t)e->st.st_blocks * 512;
	if (e->fd < 0 || w->bytes > TREE_READ_MAX ||
		(wants_digest && tree_digest_file(e->fd, (uint64_t)e->st.st_size, e->digest,
					 &e->has_blocks_digest, NULL) < 0))
		e->type = TREE_UNREAD;
}

/* The same for what the guest made. The base is the caller's own, and nothing is lent there. */
static void open_entry(struct walk *w, struct tree_entry *e, bool wants_digest)
{
	auto_lent struct lent lent UNUSED = lend(w, e);

	open_file(w, e, wants_digest);
}

/* The target of a symlink (caller frees), or NULL. */
static char *link_target(int dir, const char *name)
{
	char *text = mem_alloc(4097);

	if (readlinkat(dir, name, text, 4096) < 0)
		mem_cleanup(&text);
	return text;
}

/* True when the base has the very same thing at this place. */
static bool is_same(struct walk *w, const struct place *p, const struct tree_entry *e)
{
	struct tree_entry old = {.type = e->type, .dir = p->base, .name = e->name, .fd = -1};
	autofree char *target = NULL;

	if (p->base < 0 || p->is_opaque ||
		fstatat(p->base, e->name, &old.st, AT_SYMLINK_NOFOLLOW) < 0 ||
		type_of(old.st.st_mode) != e->type ||
		(old.st.st_mode & 07777) != (e->st.st_mode & 07777))
		return false;
	if (e->type == TREE_SYMLINK) {
		target = link_target(p->base, e->name);
		return target && e->target && strcmp(target, e->target) == 0;
	}
	if (e->type != TREE_FILE)
		return true;
	if (old.st.st_size != e->st.st_size ||
		(w->s->has_times && (old.st.st_mtim.tv_sec != e->st.st_mtim.tv_sec ||
					    old.st.st_mtim.tv_nsec != e->st.st_mtim.tv_nsec)))
		return false;
	open_file(w, &old, true);
	fd_close(&old.fd);
	return old.type == TREE_FILE && strcmp(old.digest, e->digest) == 0;
}

static int walk_place(struct walk *w, const struct place *p);

static bool is_opaque(int fd)
{
	static const char *const names[] = {"user.overlay.opaque", "trusted.overlay.opaque"};
	char value = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fgetxattr(fd, names[i], &value, 1) == 1 && value == 'y')
			return true;
	return false;
}

static int walk_directory(
	struct walk *w, const struct place *p, struct tree_entry *e, bool was_there)
{
	auto_lent struct lent lent UNUSED = lend(w, e);
	autoclose int root = -1, base = -1;
	struct place below = {.path = e->path, .depth = p->depth + 1};

	if (p->depth < TREE_DEPTH_MAX)
		root = beneath_open(p->root, e->name, O_RDONLY | O_DIRECTORY, 0);
	/* Its names may be readable, and what they name not. */
	if (root >= 0 && faccessat(root, ".", R_OK | X_OK, AT_EACCESS) < 0)
		fd_close(&root);
	if (root < 0)
		e->type = TREE_UNREAD;
	if ((!was_there || root < 0) && give(w, e) < 0)
		return -1;
	if (root < 0)
		return 0;
	if (p->base >= 0 && !p->is_opaque)
		base = beneath_open(p->base, e->name, O_RDONLY | O_DIRECTORY, 0);
	below.root = root;
	below.base = base;
	below.is_opaque = w->s->is_overlay && is_opaque(root);
	return walk_place(w, &below);
}

static void entry_close(struct tree_entry *e)
{
	fd_close(&e->fd);
}

static int walk_entry(struct walk *w, const struct place *p, const char *name, const char *path)
{
	struct tree_entry CLEANUP(entry_close)
		e = {.path = path, .name = name, .dir = p->root, .fd = -1};
	autofree char *target = NULL;
	struct stat old;

	if (fstatat(p->root, name, &e.st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(w->err, "look at a file");
	if (w->s->is_overlay && S_ISCHR(e.st.st_mode) && e.st.st_rdev == makedev(0, 0)) {
		e.type = TREE_DELETED;
		/* Something made and deleted again under an opaque directory was never in the base.
		 */
		if (p->base < 0 || fstatat(p->base, name, &old, AT_SYMLINK_NOFOLLOW) < 0)
			return 0;
		return give(w, &e);
	}
	e.type = type_of(e.st.st_mode);
	e.mtime_ns = mtime_of(w->s, &e.st);
	if (e.type == TREE_DIRECTORY)
		return walk_directory(w, p, &e, is_same(w, p, &e));
	if (e.type == TREE_SYMLINK)
		e.target = target = link_target(p->root, name);
	if (e.type == TREE_FILE)
		open_entry(w, &e, !w->s->is_undigested || p->base >= 0);
	if (is_same(w, p, &e))
		return 0;
	return give(w, &e);
}

static int list(struct walk *w, const struct place *p, struct beneath_names *ret_root,
	struct beneath_names *ret_base)
{
	if (beneath_list(p->root, TREE_ENTRIES_MAX, ret_root, w->err) < 0)
		return -1;
	if (p->base < 0 || (w->s->is_overlay && !p->is_opaque))
		return 0;
	return beneath_list(p->base, TREE_ENTRIES_MAX, ret_base, w->err);
}

static int walk_place(struct walk *w, const struct place *p)
{
	auto_names struct beneath_names root = {0}, base = {0};
	size_t i = 0, k = 0;

	if (list(w, p, &root, &base) < 0)
		return error_wrap(w->err, "'%s'", p->path);
	while (i < root.count || k < base.count) {
		int order = i == root.count   ? 1
			    : k == base.count ? -1
					      : strcmp(root.items[i], base.items[k]);
		const char *name = order <= 0 ? root.items[i] : base.items[k];
		autofree char *path =
			p->path[0] ? str_format("%s/%s", p->path, name) : mem_strdup(name);
		struct tree_entry gone = {
			.type = TREE_DELETED, .path = path, .name = name, .dir = p->base, .fd = -1};
		int r = order > 0 ? give(w, &gone) : walk_entry(w, p, name, path);

		if (r < 0)
			return -1;
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

int tree_walk(const struct tree_source *s, tree_visit *visit, void *context, struct error *err)
{
	struct walk w = {.s = s, .visit = visit, .context = context, .err = err};
	struct place top = {.root = s->root, .base = s->base, .path = ""};

	return walk_place(&w, &top);
}

char *tree_line(const struct tree_source *s, const struct tree_entry *e)
{
	static const char *const names[TREE_TYPES] = {
		"file", "directory", "symlink", "deleted", "socket", "fifo", "device", "unread"};
	auto_json json_t *o = json_object();
	char mode[8];

	snprintf(mode, sizeof(mode), "%04o", e->st.st_mode & 07777);
	json_put(o, "path", json_str(e->path));
	json_put(o, "type", json_str(names[e->type]));
	if (e->type == TREE_SYMLINK)
		json_put(o, "target", e->target ? json_str(e->target) : json_null());
	else if (e->type != TREE_DELETED)
		json_put(o, "mode", json_str(mode));
	if (e->type == TREE_FILE) {
		json_put(o, "size", json_u64((uint64_t)e->st.st_size));
		json_put(o, e->has_blocks_digest ? "blocks" : "digest", json_str(e->digest));
		if (s->has_times)
			json_put(o, "mtime_ns", json_u64(e->mtime_ns));
	}
	return json_text(o);
}

struct digesting {
	const struct tree_source *s;
	struct digest *digest;
	int listing;
};

static int digest_visit(void *context, const struct tree_entry *e, struct error *err)
{
	struct digesting *d = context;
	autofree char *line = tree_line(d->s, e);
	size_t len = strlen(line);

	line[len] = '\n'; /* over the NUL: the length is known */
	digest_update(d->digest, line, len + 1);
	return d->listing >= 0 ? fd_write_all(d->listing, line, len + 1, err) : 0;
}

int tree_digest(const struct tree_source *s, int listing, char ret[DIGEST_TEXT], struct error *err)
{
	auto_digest struct digest *digest = digest_new();
	struct digesting d = {.s = s, .digest = digest, .listing = listing};

	if (tree_walk(s, digest_visit, &d, err) < 0)
		return -1;
	digest_text(digest, ret);
	return 0;
}

int tree_digest_path(const char *path, char ret[DIGEST_TEXT], struct error *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool blocks;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "open '%.300s'", path);
	if (S_ISREG(st.st_mode))
		return tree_digest_file(fd, (uint64_t)st.st_size, ret, &blocks, err);
	if (!S_ISDIR(st.st_mode))
		return error_set(
			err, ERR_USAGE, "'%.300s' is neither a file nor a directory", path);
	if (tree_digest(&(struct tree_source){.root = fd, .base = -1}, -1, ret, err) < 0)
		return error_wrap(err, "digest '%.300s'", path);
	return 0;
}
