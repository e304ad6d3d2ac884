/* SPDX-License-Identifier: Apache-2.0 */
/* A directory tree as an image: see snapshot.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/git_index.h"
#include "cas/holes.h"
#include "cas/sink.h"
#include "cas/snapshot.h"
#include "cas/special.h"
#include "cas/tar.h"
#include "cas/walk.h"
#include "cas/xattrs.h"

/* The image that this one is compared with, read in step with the tree. */
struct base {
	struct sink *sink;
	uint64_t at, size;
	struct tar_reader *reader;
	struct tar_entry entry;
	bool has_entry;
};

struct freezer {
	const struct snapshot_policy *policy;
	int dir;
	struct sink *sink;
	struct base base;
	struct special special;
	struct bytes header;
	bool has_reserved; /* a real file has the name of the list */
};

static void freezer_finish(struct freezer *f)
{
	tar_reader_free(f->base.reader);
	special_finish(&f->special);
	bytes_finish(&f->header);
	sink_close(f->sink);
}

static int base_source(void *context, void *data, size_t len, size_t *ret_len, struct error *err)
{
	struct base *b = context;
	const unsigned char *bytes = NULL;

	len = len < b->size - b->at ? len : (size_t)(b->size - b->at);
	if (data && len > 0) {
		bytes = sink_base_bytes(b->sink, b->at, len);
		if (!bytes)
			return error_set(
				err, ERR_SYSTEM, "the image to compare with is unreadable");
		memcpy(data, bytes, len);
	}
	b->at += len;
	*ret_len = len;
	return len > 0;
}

static void base_next(struct base *b)
{
	/* It was not verified: whatever is wrong with it, there is nothing to compare with then. */
	b->has_entry = tar_next(b->reader, &b->entry, NULL) > 0;
}

static void base_open(struct base *b, struct sink *sink)
{
	struct stat st;

	if (sink_base(sink) < 0 || fstat(sink_base(sink), &st) < 0)
		return;
	b->sink = sink;
	b->size = (uint64_t)st.st_size;
	b->reader = tar_reader_new(base_source, b, true);
	base_next(b);
}

/* Moves to the entry of that path; false when the base has none. */
static bool base_find(struct base *b, const char *path)
{
	while (b->has_entry && (b->entry.is_list || strcmp(b->entry.path, path) < 0))
		base_next(b);
	return b->has_entry && strcmp(b->entry.path, path) == 0;
}

static int put_header(
	struct freezer *f, const struct tar_entry *t, uint64_t *ret_hint, struct error *err)
{
	bool has_base = f->base.reader && base_find(&f->base, t->path);

	f->header.len = 0;
	tar_put_header(&f->header, t);
	*ret_hint = has_base ? tar_data_at(f->base.reader) : SINK_NEW;
	return sink_write(f->sink, f->header.data, f->header.len,
		has_base ? tar_header_at(f->base.reader) : SINK_NEW, err);
}

static uint64_t later(uint64_t hint, uint64_t by)
{
	return hint == SINK_NEW ? hint : hint + by;
}

/* len bytes of a file from an offset on, read right into the stream. */
static int put_bytes(struct freezer *f, const struct walk_entry *e, int fd, struct tar_piece piece,
	bool is_last, uint64_t hint, struct error *err)
{
	uint64_t at = piece.offset, len = piece.len;

	while (len > 0) {
		unsigned char *to;
		size_t room;
		ssize_t n;

		if (sink_room(f->sink, &to, &room, err) < 0)
			return -1;
		/* A byte more than there should be tells of a file that grew. */
		do
			n = pread(fd, to, room <= len ? room : (size_t)len + is_last, (off_t)at);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return walk_fail("read", e, err);
		if (n == 0 || (uint64_t)n > len)
			return walk_changed(e, err);
		if (sink_advance(f->sink, (size_t)n, hint, err) < 0)
			return -1;
		at += (uint64_t)n;
		len -= (uint64_t)n;
		hint = later(hint, (uint64_t)n);
	}
	return 0;
}

static int put_data(struct freezer *f, const struct walk_entry *e, const struct tar_entry *t,
	int fd, uint64_t hint, struct error *err)
{
	struct tar_piece all = {0, t->size};
	const struct tar_piece *pieces = t->pieces ? t->pieces : &all;
	size_t count = t->pieces ? t->piece_count : 1;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (put_bytes(f, e, fd, pieces[i], pieces[i].offset + pieces[i].len == t->size,
			    later(hint, sum), err) < 0)
			return -1;
		sum += pieces[i].len;
	}
	return sink_zeros(f->sink, tar_padding(sum), later(hint, sum), err);
}

static int read_xattrs(
	struct freezer *f, const struct walk_entry *e, int fd, struct xattrs *x, struct error *err)
{
	if (!f->policy->has_xattrs)
		return 0;
	if (xattrs_read(fd, x) < 0)
		return walk_fail("read the attributes of", e, err);
	for (size_t i = 0; i < x->count; i++)
		if (strchr(x->list[i].name, '=')) {
			const char *name = x->list[i].name;
			autofree char *safe = str_printable(name, strlen(name), 100);

			return error_set(err, ERR_UNSUPPORTED,
				"the attribute '%s' has a '=' in its name, for which a tar has no "
				"form",
				safe);
		}
	return 0;
}

/* git's index without what stat said. */
static int put_index(struct freezer *f, const struct walk_entry *e, int fd, struct tar_entry *t,
	struct error *err)
{
	auto_bytes struct bytes out = {0};
	autofree char *data = NULL;
	uint64_t hint;
	size_t len;

	if (fd_slurp(fd, GIT_INDEX_MAX, &data, &len, err) < 0 ||
		git_index_normalise(data, len, &out, err) < 0)
		return error_wrap(err, "'%.200s'", e->path);
	t->size = out.len;
	if (put_header(f, t, &hint, err) < 0 ||
		sink_write(f->sink, out.data, out.len, hint, err) < 0)
		return -1;
	return sink_zeros(f->sink, tar_padding(out.len), later(hint, out.len), err);
}

static int freeze_file(struct freezer *f, const struct walk_entry *e, struct error *err)
{
	auto_xattrs struct xattrs x = {0};
	autofree struct tar_piece *pieces = NULL;
	autoclose int fd =
		openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct tar_entry t = {.type = TAR_FILE, .path = e->path};
	struct stat st;
	uint64_t hint;

	if (fd < 0 || fstat(fd, &st) < 0)
		return walk_fail("open", e, err);
	if (!S_ISREG(st.st_mode))
		return walk_changed(e, err);
	t.mode = st.st_mode & 07777;
	t.size = (uint64_t)st.st_size;
	if (read_xattrs(f, e, fd, &x, err) < 0)
		return -1;
	t.xattrs = x.list;
	t.xattr_count = x.count;
	if (strcmp(e->path, SNAPSHOT_SPECIAL_NAME) == 0)
		f->has_reserved = true;
	if (e->is_git_index)
		return put_index(f, e, fd, &t, err);
	/* One more may follow, an empty one at the end. */
	if (holes_find(fd, t.size, TAR_SPARSE_MAX - 1, &pieces, &t.piece_count, err) < 0)
		return error_wrap(err, "'%.200s'", e->path);
	t.pieces = pieces;
	return put_header(f, &t, &hint, err) < 0 ? -1 : put_data(f, e, &t, fd, hint, err);
}

static int freeze_directory(struct freezer *f, const struct walk_entry *e, struct error *err)
{
	auto_xattrs struct xattrs x = {0};
	struct tar_entry t = {.type = TAR_DIRECTORY, .path = e->path};
	struct stat st;
	uint64_t hint;

	if (fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return walk_fail("look at", e, err);
	if (!S_ISDIR(st.st_mode))
		return walk_changed(e, err);
	if (f->policy->has_xattrs) {
		autoclose int fd = beneath_open(e->dir, e->name, O_RDONLY | O_DIRECTORY, 0);

		if (fd < 0)
			return walk_fail("open", e, err);
		if (read_xattrs(f, e, fd, &x, err) < 0)
			return -1;
	}
	t.mode = st.st_mode & 07777;
	t.xattrs = x.list;
	t.xattr_count = x.count;
	if (strcmp(e->path, SNAPSHOT_SPECIAL_NAME) == 0)
		f->has_reserved = true;
	return put_header(f, &t, &hint, err);
}

static int freeze_link(struct freezer *f, const struct walk_entry *e, struct error *err)
{
	char target[4097];
	struct tar_entry t = {.type = TAR_SYMLINK, .path = e->path, .target = target, .mode = 0777};
	ssize_t len = readlinkat(e->dir, e->name, target, sizeof(target) - 1);
	uint64_t hint;

	if (len < 0 && errno == EINVAL)
		return walk_changed(e, err);
	if (len < 0)
		return walk_fail("read the link", e, err);
	target[len] = '\0';
	if (strcmp(e->path, SNAPSHOT_SPECIAL_NAME) == 0)
		f->has_reserved = true;
	return put_header(f, &t, &hint, err);
}

static int freeze_entry(void *context, const struct walk_entry *e, struct error *err)
{
	struct freezer *f = context;

	switch (e->type) {
	case S_IFREG:
		return freeze_file(f, e, err);
	case S_IFDIR:
		return freeze_directory(f, e, err);
	case S_IFLNK:
		return freeze_link(f, e, err);
	default:
		return special_add(&f->special, e->path, e->type, err);
	}
}

/* The list of special files, as the last member. */
static int freeze_list(struct freezer *f, struct error *err)
{
	struct tar_entry t = {
		.type = TAR_FILE, .path = SNAPSHOT_SPECIAL_NAME, .mode = 0444, .is_list = true};
	autofree char *text = NULL;
	uint64_t hint;

	if (f->policy->special && special_merge(&f->special, f->policy->special, f->dir, err) < 0)
		return -1;
	text = special_text(&f->special);
	if (!text)
		return 0;
	if (f->has_reserved)
		return error_set(err, ERR_UNSUPPORTED,
			"'%s' is the reserved name of the list of sockets, fifos and devices, and "
			"the tree has both; rename the file",
			SNAPSHOT_SPECIAL_NAME);
	t.size = strlen(text);
	if (put_header(f, &t, &hint, err) < 0 ||
		sink_write(f->sink, text, (size_t)t.size, hint, err) < 0)
		return -1;
	return sink_zeros(f->sink, tar_padding(t.size), SINK_NEW, err);
}

static int freeze(int dir, const struct snapshot_policy *policy, struct cas *c,
	char ret[DIGEST_TEXT], struct error *err)
{
	static const struct cas_about about = {.content_type = SNAPSHOT_TREE_TYPE};
	struct freezer CLEANUP(freezer_finish) f = {.policy = policy, .dir = dir};

	if (sink_open(c, policy->base, &policy->progress, &f.sink, err) < 0)
		return -1;
	base_open(&f.base, f.sink);
	if (walk_tree(dir, policy->git, freeze_entry, &f, err) < 0 || freeze_list(&f, err) < 0 ||
		sink_zeros(f.sink, tar_end(sink_size(f.sink)), SINK_NEW, err) < 0)
		return -1;
	return sink_commit(f.sink, &about, ret, err);
}

int snapshot_freeze(int dir, const struct snapshot_policy *policy, struct cas *c,
	char ret[DIGEST_TEXT], struct error *err)
{
	return freeze(dir, policy, c, ret, err);
}

int snapshot_digest(
	int dir, const struct snapshot_policy *policy, char ret[DIGEST_TEXT], struct error *err)
{
	return freeze(dir, policy, NULL, ret, err);
}
