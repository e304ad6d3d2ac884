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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "cas/plant.h"
#include "cas/snapshot.h"
#include "cas/special.h"
#include "cas/tar.h"
#include "cas/thaw.h"

enum { CHUNK = 256 * 1024 };

struct thaw {
	struct plant plant;
	unsigned char *data;
	char *special;
};

static void thaw_finish(struct thaw *t)
{
	plant_finish(&t->plant);
	free(t->data);
	free(t->special);
}

static int fail(const char *what, const char *path, struct error *err)
{
	autofree char *safe = str_printable(path, strlen(path), 200);

	return error_sys(err, "%s '%s'", what, safe);
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

static int thaw_file(
	struct thaw *t, struct tar_reader *r, const struct tar_entry *e, struct error *err)
{
	autoclose int fd = -1;

	if (plant_file(&t->plant, e->path, &fd, err) < 0 || write_data(t, r, e, fd, err) < 0 ||
		plant_xattrs(fd, e->xattrs, e->xattr_count, e->path, err) < 0)
		return -1;
	return plant_mode(fd, e->mode, e->path, err);
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
	if (e->is_list)
		return thaw_list(t, r, e, err);
	if (t->special)
		return error_set(err, ERR_FORMAT, "something follows the list of special files");
	if (e->type == TAR_FILE)
		return thaw_file(t, r, e, err);
	if (e->type == TAR_DIRECTORY)
		return plant_directory(&t->plant, e->path, e->mode, e->xattrs, e->xattr_count, err);
	return plant_link(&t->plant, e->path, e->target, err);
}

int thaw_stream(tar_source *source, void *context, int dir, char **ret_special, struct error *err)
{
	auto_tar_reader struct tar_reader *r = tar_reader_new(source, context, false);
	struct thaw CLEANUP(thaw_finish) t = {0};
	struct tar_entry e;
	int more;

	plant_init(&t.plant, dir);
	t.data = mem_alloc(CHUNK);
	while ((more = tar_next(r, &e, err)) > 0) {
		if (fault_point("snapshot: thaw an entry") < 0)
			return error_sys(err, "make a file");
		if (thaw_entry(&t, r, &e, err) < 0)
			return -1;
	}
	if (more < 0 || plant_done(&t.plant, err) < 0)
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
