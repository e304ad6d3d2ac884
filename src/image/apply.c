/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying a layer over what is there: see archive.h.
 *
 * How it works. libarchive decompresses and parses; it writes nothing. Each name is made by our own
 * calls beneath the tree's directory (tree.c), so that no name, symlink or hard link leads out of
 * it. Directories stay writable until all layers are laid; then archive_settle gives them what
 * they should have, the deepest first.
 */
#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "image/stream.h"
#include "image/tree.h"

int archive_tree_open(
	int dir, const struct archive_bounds *bounds, struct archive_tree **ret, struct error *err)
{
	struct archive_tree *t = mem_alloc(sizeof(*t));

	t->root = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (t->root < 0) {
		free(t);
		return error_sys(err, "open the directory to unpack into");
	}
	t->is_root = geteuid() == 0;
	t->bounds = *bounds;
	t->parent_fd = -1;
	/* What nobody lists is root's and has no time: never that of the unpacking. */
	tree_note(t, "", 0755, 0, 0, (struct timespec){0});
	*ret = t;
	return 0;
}

void archive_tree_close(struct archive_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->dir_count; i++)
		free(t->dirs[i].path);
	free(t->dirs);
	path_set_clear(&t->own);
	tree_forget(t);
	fd_close(&t->root);
	free(t);
}

static int too_much(const struct archive_tree *t, struct error *err)
{
	return error_set(err, ERR_LIMIT,
		"it unpacks to more than the limit of %" PRIu64 " bytes; --max-size allows more",
		t->bounds.bytes);
}

/* Counts an entry and its declared bytes. */
static int count(struct archive_tree *t, struct archive_entry *e, struct error *err)
{
	int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;

	if (t->counts.entries >= t->bounds.entries)
		return error_set(err, ERR_LIMIT,
			"it has more than the limit of %" PRIu64 " entries", t->bounds.entries);
	if (size < 0 || (uint64_t)size > t->bounds.bytes - t->counts.bytes)
		return too_much(t, err);
	t->counts.entries++;
	t->counts.bytes += (uint64_t)size;
	return 0;
}

static int copy_data(int fd, struct archive *a, struct archive_entry *e, struct error *err)
{
	const void *data;
	size_t len;
	la_int64_t offset, end = 0;
	int r;

	while ((r = archive_read_data_block(a, &data, &len, &offset)) == ARCHIVE_OK) {
		/* Blocks come in their order; a file with holes has gaps between them. */
		if (offset < end)
			return error_set(err, ERR_FORMAT, "a file's pieces are out of order");
		if (offset > end && lseek(fd, offset, SEEK_SET) < 0)
			return error_sys(err, "seek in a new file");
		if (fault_point("image: write a file") < 0)
			return error_sys(err, "write a file");
		if (fd_write_all(fd, data, len, err) < 0)
			return -1;
		end = offset + (la_int64_t)len;
	}
	if (r != ARCHIVE_EOF)
		return stream_fail(a, "a file in it cannot be read", err);
	if (end < archive_entry_size(e) && ftruncate(fd, archive_entry_size(e)) < 0)
		return error_sys(err, "size a new file");
	return 0;
}

/* Makes room for an entry that is there already, of the same layer or one below. */
static int clear_if_there(struct archive_tree *t, const char *path, struct error *err)
{
	return errno == EEXIST ? tree_clear(t, path, err) : error_sys(err, "make '%.200s'", path);
}

static int make_file(struct archive_tree *t, const char *path, struct archive *a,
	struct archive_entry *e, struct error *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	autoclose int fd = -1;
	int parent;

	if (tree_parent(t, path, true, &parent, err) < 0)
		return -1;
	fd = openat(parent, tree_last(path), flags, 0600);
	if (fd < 0) {
		if (clear_if_there(t, path, err) < 0 ||
			tree_parent(t, path, true, &parent, err) < 0)
			return -1;
		fd = openat(parent, tree_last(path), flags, 0600);
	}
	if (fd < 0)
		return error_sys(err, "make '%.200s'", path);
	if (copy_data(fd, a, e, err) < 0)
		return -1;
	return tree_dress(t, fd, NULL, e, err);
}

static int make_dir(
	struct archive_tree *t, const char *path, struct archive_entry *e, struct error *err)
{
	autoclose int fd = -1;
	struct stat st;
	int parent = t->root;

	if (path[0]) {
		if (tree_parent(t, path, true, &parent, err) < 0)
			return -1;
		if (mkdirat(parent, tree_last(path), 0700) < 0) {
			if (errno != EEXIST)
				return error_sys(err, "make '%.200s'", path);
			if (fstatat(parent, tree_last(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
				return error_sys(err, "stat '%.200s'", path);
			if (!S_ISDIR(st.st_mode)) {
				if (tree_clear(t, path, err) < 0 ||
					tree_parent(t, path, true, &parent, err) < 0)
					return -1;
				if (mkdirat(parent, tree_last(path), 0700) < 0)
					return error_sys(err, "make '%.200s'", path);
			}
		}
	}
	if (archive_entry_xattr_count(e) > 0) {
		fd = openat(parent, path[0] ? tree_last(path) : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			tree_xattrs(t, fd, e);
	}
	tree_note(t, path, archive_entry_perm(e) & 07777, (uid_t)archive_entry_uid(e),
		(gid_t)archive_entry_gid(e),
		(struct timespec){archive_entry_mtime(e), archive_entry_mtime_nsec(e)});
	return 0;
}

/* Another name for a file that is in the tree, of this layer or one below. */
static int make_link(
	struct archive_tree *t, const char *path, const char *target, struct error *err)
{
	autoclose int from = -1;
	char tidy[PATH_MAX];
	int parent;

	if (tree_tidy(target, tidy, err) < 0)
		return -1;
	if (!tidy[0] || strcmp(tidy, path) == 0)
		return error_set(
			err, ERR_FORMAT, "'%.200s' is a hard link to itself or the root", path);
	if (tree_parent(t, tidy, false, &parent, err) < 0)
		return error_wrap(err, "the target of a hard link");
	from = fcntl(parent, F_DUPFD_CLOEXEC, 0);
	if (from < 0 || tree_parent(t, path, true, &parent, err) < 0)
		return from < 0 ? error_sys(err, "open '%.200s'", tidy) : -1;
	if (linkat(from, tree_last(tidy), parent, tree_last(path), 0) == 0)
		return 0;
	if (errno == EEXIST &&
		(tree_clear(t, path, err) < 0 || tree_parent(t, path, true, &parent, err) < 0))
		return -1;
	if (linkat(from, tree_last(tidy), parent, tree_last(path), 0) == 0)
		return 0;
	return error_sys(err, "'%.150s' is a hard link to '%.150s'", path, tidy);
}

static int try_node(int parent, const char *path, struct archive_entry *e)
{
	switch (archive_entry_filetype(e)) {
	case AE_IFLNK:
		return symlinkat(archive_entry_symlink(e), parent, tree_last(path));
	case AE_IFIFO:
		return mkfifoat(parent, tree_last(path), 0600);
	default:
		return mknodat(parent, tree_last(path), (archive_entry_filetype(e) & S_IFMT) | 0600,
			archive_entry_rdev(e));
	}
}

/* A symlink, a FIFO or a device node. */
static int make_node(
	struct archive_tree *t, const char *path, struct archive_entry *e, struct error *err)
{
	unsigned type = archive_entry_filetype(e);
	int parent;

	if (type != AE_IFLNK && type != AE_IFIFO && type != AE_IFCHR && type != AE_IFBLK) {
		t->counts.left_out++;
		return 0;
	}
	if (type == AE_IFLNK && !archive_entry_symlink(e))
		return error_set(err, ERR_FORMAT, "'%.200s' is a symlink to nothing", path);
	if (tree_parent(t, path, true, &parent, err) < 0)
		return -1;
	if (try_node(parent, path, e) < 0) {
		if (errno == EEXIST && (tree_clear(t, path, err) < 0 ||
					       tree_parent(t, path, true, &parent, err) < 0))
			return -1;
		if (try_node(parent, path, e) < 0) {
			/* Devices want CAP_MKNOD; what is missing is told. */
			if (type != AE_IFCHR && type != AE_IFBLK)
				return error_sys(err, "make '%.200s'", path);
			t->counts.left_out++;
			return 0;
		}
	}
	return tree_dress(t, parent, tree_last(path), e, err);
}

/* The entry is this layer's, and so are the directories above it: an opaque mark leaves them. */
static void own_add(struct archive_tree *t, const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *end = part + strlen(part); end; end = strrchr(part, '/')) {
		*end = '\0';
		if (path_set_has(&t->own, part))
			return;
		path_set_add(&t->own, part);
	}
}

static int apply_entry(
	struct archive_tree *t, struct archive *a, struct archive_entry *e, struct error *err)
{
	const char *name = archive_entry_pathname(e), *target = archive_entry_hardlink(e);
	char path[PATH_MAX];
	int r;

	if (!name)
		return error_set(err, ERR_FORMAT, "it has a name that is no text");
	if (count(t, e, err) < 0 || tree_tidy(name, path, err) < 0)
		return -1;
	if (!path[0] && (target || archive_entry_filetype(e) != AE_IFDIR))
		return error_set(
			err, ERR_FORMAT, "it has something else than a directory as its root");
	r = tree_whiteout(t, path, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (t->is_upper)
		own_add(t, path);
	if (target)
		return make_link(t, path, target, err);
	if (archive_entry_filetype(e) == AE_IFDIR)
		return make_dir(t, path, e, err);
	if (archive_entry_filetype(e) == AE_IFREG)
		return make_file(t, path, a, e, err);
	return make_node(t, path, e, err);
}

static la_ssize_t pull(struct archive *a, void *context, const void **ret)
{
	struct stream *s = context;
	size_t len = 0;
	int got = stream_next(s, ret, &len, &s->err);

	if (got < 0)
		archive_set_error(a, EIO, "%s", s->err.msg);
	return got <= 0 ? got : (la_ssize_t)len;
}

static void archive_done(struct archive **a)
{
	archive_read_free(*a);
}

static int read_entries(struct archive_tree *t, struct stream *s, struct error *err)
{
	struct archive CLEANUP(archive_done) *a = archive_read_new();
	struct archive_entry *e;
	int r;

	if (!a)
		return error_set(err, ERR_SYSTEM, "libarchive gives no reader");
	archive_read_support_format_tar(a);
	archive_read_support_format_empty(a);
	r = archive_read_open(a, s, NULL, pull, NULL);
	while (r == ARCHIVE_OK || r == ARCHIVE_WARN) {
		r = archive_read_next_header(a, &e);
		if (r == ARCHIVE_WARN && (!archive_entry_pathname(e) ||
						 strstr(archive_entry_pathname(e), "\xef\xbf\xbd")))
			return error_set(err, ERR_UNSUPPORTED,
				"it has a name that is not UTF-8 where the format says UTF-8");
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			break;
		if (apply_entry(t, a, e, err) < 0) {
			if (s->err.code)
				*err = s->err;
			return -1;
		}
	}
	if (r == ARCHIVE_EOF)
		return 0;
	if (s->err.code) {
		*err = s->err;
		return -1;
	}
	return stream_fail(a, "it is no tar, or a damaged one", err);
}

int archive_apply(
	struct archive_tree *t, const struct archive_input *in, bool plain, struct error *err)
{
	/* libarchive gives up on names of pax headers in a locale that cannot say them. */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), old = (locale_t)0;
	struct stream s;
	int r;

	t->plain = plain;
	t->is_upper = t->counts.entries > 0;
	path_set_clear(&t->own);
	if (utf8)
		old = uselocale(utf8);
	r = stream_open(&s, in, t->bounds.bytes - t->stream_bytes, t->bounds.bytes, err);
	if (r == 0)
		r = read_entries(t, &s, err);
	if (r == 0)
		r = stream_end(&s, err);
	t->stream_bytes = t->bounds.bytes - s.left;
	stream_close(&s);
	if (utf8) {
		uselocale(old);
		freelocale(utf8);
	}
	return r;
}

int archive_look(const struct archive_input *in, uint64_t max_bytes, struct error *err)
{
	struct stream s;
	int r = stream_open(&s, in, max_bytes, max_bytes, err);

	if (r == 0)
		r = stream_end(&s, err);
	stream_close(&s);
	return r;
}

/* The deepest first, for a mode may close what is below; later layers after earlier ones. */
static int by_depth(const void *a, const void *b)
{
	const struct tree_dir *x = a, *y = b;
	int order = strcmp(y->path, x->path);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int settle_dir(const struct archive_tree *t, const struct tree_dir *d, struct error *err)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, d->mtime};
	autoclose int fd = -1, parent = -1;
	struct archive_tree walk = *t;
	int above;

	walk.parent_fd = -1;
	if (d->path[0]) {
		/* Gone, by a whiteout or another entry of that name. */
		if (tree_parent(&walk, d->path, false, &above, err) < 0)
			return err->code == ERR_ESCAPE || err->sys == ENOENT ? 0 : -1;
		parent = above;
	}
	fd = openat(d->path[0] ? parent : t->root, d->path[0] ? tree_last(d->path) : ".",
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? 0
			       : error_sys(err, "open '%.200s'", d->path);
	if ((t->is_root && fchown(fd, d->uid, d->gid) < 0) || fchmod(fd, d->mode) < 0 ||
		futimens(fd, times) < 0)
		return error_sys(err, "settle the directory '%.200s'", d->path);
	return 0;
}

int archive_settle(struct archive_tree *t, struct archive_counts *ret, struct error *err)
{
	if (t->dir_count > 0)
		qsort(t->dirs, t->dir_count, sizeof(*t->dirs), by_depth);
	for (size_t i = 0; i < t->dir_count; i++)
		/* A directory of several layers is what the last one says. */
		if ((i + 1 == t->dir_count || strcmp(t->dirs[i].path, t->dirs[i + 1].path) != 0) &&
			settle_dir(t, &t->dirs[i], err) < 0)
			return -1;
	*ret = t->counts;
	return 0;
}
