/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image as a directory tree: see snapshot.h.
 *
 * How it works. The image is extracted while it is read, since reading it first only to know its
 * digest would cost as much again. Its bytes are anybody's until the end: nothing is followed on
 * the way to a file, nothing is opened that is not new, and when the digest is wrong in the end -
 * or something else goes wrong before - all is removed again. Modes that would shut us out of a
 * directory are set when everything is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "cas/deep.h"
#include "cas/snapshot.h"
#include "cas/special.h"
#include "cas/tar.h"
#include "cas/thaw.h"

enum { CHUNK = 256 * 1024 };

/* A directory whose mode waits. */
struct waiting {
	char *path;
	mode_t mode;
};

struct thaw {
	int top;
	int parent; /* of the last entry; -1 */
	char *parent_path;
	struct waiting *waiting;
	size_t count, room;
	unsigned char *data;
	char *special;
};

static void thaw_finish(struct thaw *t)
{
	fd_close(&t->parent);
	free(t->parent_path);
	for (size_t i = 0; i < t->count; i++)
		free(t->waiting[i].path);
	free(t->waiting);
	free(t->data);
	free(t->special);
}

static int fail(const char *what, const char *path, struct error *err)
{
	autofree char *safe = str_printable(path, strlen(path), 200);

	return error_sys(err, "%s '%s'", what, safe);
}

/* The directory that a path lies in, and its last part. */
static int find_parent(
	struct thaw *t, const char *path, int *ret_dir, const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*ret_dir = t->top;
	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return 0;
	if (t->parent < 0 || strlen(t->parent_path) != len ||
		memcmp(t->parent_path, path, len) != 0) {
		fd_close(&t->parent);
		free(t->parent_path);
		t->parent_path = mem_strndup(path, len);
		t->parent = deep_open(t->top, t->parent_path);
		if (t->parent < 0)
			return fail("open the directory of", path, err);
	}
	*ret_dir = t->parent;
	return 0;
}

/* Exactly this mode, or an error: chmod drops setgid in silence where the group is not ours. */
static int set_mode(int fd, mode_t mode, const char *path, struct error *err)
{
	struct stat st;

	if (fchmod(fd, mode) < 0 || fstat(fd, &st) < 0)
		return fail("set the mode of", path, err);
	if ((st.st_mode & 07777) != mode)
		return error_set(err, ERR_UNSUPPORTED,
			"the mode %04o of '%.200s' cannot be set here (it became %04o)",
			(unsigned)mode, path, (unsigned)st.st_mode & 07777);
	return 0;
}

static int set_xattrs(int fd, const struct tar_entry *e, struct error *err)
{
	for (size_t i = 0; i < e->xattr_count; i++) {
		const struct tar_xattr *x = &e->xattrs[i];

		/* Others decide about rights, and an image may not. */
		if (!str_has_prefix(x->name, "user."))
			return error_set(
				err, ERR_FORMAT, "an attribute that does not begin with 'user.'");
		if (fsetxattr(fd, x->name, x->value, x->len, XATTR_CREATE) < 0)
			return fail("set an attribute of", e->path, err);
	}
	return 0;
}

static int write_at(int fd, const unsigned char *data, size_t len, uint64_t at, struct error *err)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "write");
		data += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_data(
	struct thaw *t, struct tar_reader *r, const struct tar_entry *e, int fd, struct error *err)
{
	uint64_t at;
	size_t n;
	int more;

	while ((more = tar_data(r, t->data, CHUNK, &n, &at, err)) > 0)
		if (write_at(fd, t->data, n, at, err) < 0)
			return error_wrap(err, "'%.200s'", e->path);
	if (more == 0 && e->pieces && ftruncate(fd, (off_t)e->size) < 0)
		return fail("make", e->path, err);
	return more;
}

static int thaw_file(struct thaw *t, struct tar_reader *r, const struct tar_entry *e, int dir,
	const char *name, struct error *err)
{
	autoclose int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail("make", e->path, err);
	if (write_data(t, r, e, fd, err) < 0 || set_xattrs(fd, e, err) < 0)
		return -1;
	return set_mode(fd, e->mode, e->path, err);
}

static void wait_with_mode(struct thaw *t, const char *path, mode_t mode)
{
	if (t->count == t->room) {
		t->room = t->room * 2 + 32;
		t->waiting = mem_grow(t->waiting, t->room, sizeof(*t->waiting));
	}
	t->waiting[t->count++] = (struct waiting){mem_strdup(path), mode};
}

static int thaw_directory(
	struct thaw *t, const struct tar_entry *e, int dir, const char *name, struct error *err)
{
	autoclose int fd = -1;

	if (mkdirat(dir, name, 0700) < 0)
		return fail("make", e->path, err);
	/* setgid would be inherited by what is made in it. */
	if (e->xattr_count == 0 && ((e->mode & 0700) != 0700 || (e->mode & 07000))) {
		wait_with_mode(t, e->path, e->mode);
		return 0;
	}
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail("open", e->path, err);
	if (set_xattrs(fd, e, err) < 0)
		return -1;
	if ((e->mode & 0700) == 0700 && !(e->mode & 07000))
		return set_mode(fd, e->mode, e->path, err);
	wait_with_mode(t, e->path, e->mode);
	return 0;
}

/* Kept for the next freeze; no file is made of it. */
static int thaw_list(
	struct thaw *t, struct tar_reader *r, const struct tar_entry *e, struct error *err)
{
	auto_special struct special check = {0};
	size_t len = 0, n;
	uint64_t at;
	int more;

	if (e->type != TAR_FILE || e->pieces || t->special || e->size == 0 ||
		e->size > SNAPSHOT_SPECIAL_MAX || strcmp(e->path, SNAPSHOT_SPECIAL_NAME) != 0)
		return error_set(err, ERR_FORMAT, "a malformed list of special files");
	t->special = mem_alloc((size_t)e->size + 1);
	while ((more = tar_data(r, t->special + len, (size_t)e->size - len, &n, &at, err)) > 0)
		len += n;
	if (more < 0)
		return -1;
	if (strlen(t->special) != len)
		return error_set(err, ERR_FORMAT, "a malformed list of special files");
	return special_merge(&check, t->special, -1, err);
}

static int thaw_entry(
	struct thaw *t, struct tar_reader *r, const struct tar_entry *e, struct error *err)
{
	const char *name;
	int dir;

	if (e->is_list)
		return thaw_list(t, r, e, err);
	if (t->special)
		return error_set(err, ERR_FORMAT, "something follows the list of special files");
	if (find_parent(t, e->path, &dir, &name, err) < 0)
		return -1;
	if (e->type == TAR_FILE)
		return thaw_file(t, r, e, dir, name, err);
	if (e->type == TAR_DIRECTORY)
		return thaw_directory(t, e, dir, name, err);
	if (symlinkat(e->target, dir, name) < 0)
		return fail("make the link", e->path, err);
	return 0;
}

/* From the last to the first, so that what a directory holds comes before it. */
static int set_waiting(struct thaw *t, struct error *err)
{
	for (size_t i = t->count; i-- > 0;) {
		const struct waiting *w = &t->waiting[i];
		autoclose int fd = deep_open(t->top, w->path);

		if (fd < 0)
			return fail("open", w->path, err);
		if (set_mode(fd, w->mode, w->path, err) < 0)
			return -1;
	}
	return 0;
}

int thaw_stream(tar_source *source, void *context, int dir, char **ret_special, struct error *err)
{
	auto_tar_reader struct tar_reader *r = tar_reader_new(source, context, false);
	struct thaw CLEANUP(thaw_finish) t = {.top = dir, .parent = -1};
	struct tar_entry e;
	int more;

	t.data = mem_alloc(CHUNK);
	while ((more = tar_next(r, &e, err)) > 0) {
		if (fault_point("snapshot: thaw an entry") < 0)
			return error_sys(err, "make a file");
		if (thaw_entry(&t, r, &e, err) < 0)
			return -1;
	}
	if (more < 0 || set_waiting(&t, err) < 0)
		return -1;
	*ret_special = take_ptr(t.special);
	return 0;
}

struct reading {
	struct cas_reader *reader;
	const struct cas_progress *progress;
	uint64_t done;
	bool is_failed; /* the store's fault and not the image's */
};

static int read_object(void *context, void *data, size_t len, size_t *ret_len, struct error *err)
{
	struct reading *r = context;
	int more = cas_reader_next(r->reader, data, len, ret_len, err);

	r->is_failed = more < 0;
	if (more > 0) {
		r->done += *ret_len;
		if (r->progress && r->progress->call)
			r->progress->call(r->progress->context, r->done);
	}
	return more;
}

/* An image that makes no sense may be one that was tampered with: its end tells. */
static int explain(struct reading *r, struct error *err)
{
	autofree unsigned char *data = mem_alloc(CHUNK);
	struct error why;
	size_t n;
	int more;

	if (r->is_failed || !err || err->code != ERR_FORMAT)
		return -1;
	do
		more = cas_reader_next(r->reader, data, CHUNK, &n, &why);
	while (more > 0);
	if (more < 0)
		*err = why;
	return -1;
}

static int check_empty(int dir, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(dir, 1, &names, NULL) < 0 || names.count > 0)
		return error_set(err, ERR_USAGE,
			"a snapshot is made in an empty directory, and this is none");
	return 0;
}

int snapshot_thaw(struct cas *c, const char *digest, int dir, const struct cas_progress *progress,
	char **ret_special, struct error *err)
{
	auto_cas_reader struct cas_reader *reader = NULL;
	auto_json json_t *manifest = NULL;
	struct reading r = {.progress = progress};
	char tree[DIGEST_TEXT];
	struct error why = {0};

	if (check_empty(dir, err) < 0 ||
		snapshot_record_find(c, digest, tree, &manifest, err) < 0 ||
		cas_reader_open(c, tree, &reader, err) < 0)
		return -1;
	r.reader = reader;
	if (thaw_stream(read_object, &r, dir, ret_special, &why) == 0)
		return 0;
	explain(&r, &why);
	if (remove_contents(dir, NULL) < 0)
		error_wrap(&why, "files of it are left");
	if (err)
		*err = why;
	return error_wrap(err, "snapshot %s", tree);
}
