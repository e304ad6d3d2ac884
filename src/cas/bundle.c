/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as one stream, to be carried to another store: see cas.h. A tar of "index.json", which
 * says what was asked for, and of "sha256/HEX" for each object; docs/format/snapshot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/inside.h"
#include "cas/list.h"
#include "cas/read.h"
#include "cas/sink.h"
#include "cas/snapshot.h"
#include "cas/tar.h"

#define FORMAT "sandglass.export/1"
#define FOLDER "sha256/"

enum { INDEX_MAX = 64 << 20, CHUNK = 256 * 1024 };

struct wanted {
	char (*digests)[DIGEST_TEXT];
	size_t count;
};

static void wanted_finish(struct wanted *w)
{
	free(w->digests);
}

static void want(struct wanted *w, const char *digest)
{
	w->digests = mem_grow(w->digests, w->count + 1, sizeof(*w->digests));
	memcpy(w->digests[w->count++], digest, DIGEST_TEXT);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, DIGEST_TEXT);
}

/* Sorted, each once. */
static void tidy(struct wanted *w)
{
	size_t kept = 0;

	if (w->count > 0)
		qsort(w->digests, w->count, sizeof(*w->digests), compare);
	for (size_t i = 0; i < w->count; i++)
		if (i == 0 || compare(w->digests[kept - 1], w->digests[i]) != 0)
			memmove(w->digests[kept++], w->digests[i], DIGEST_TEXT);
	w->count = kept;
}

static char *type_of(struct cas *c, const char *digest)
{
	autoclose int shard = cas_shard_open(c, cas_hex(digest));
	struct cas_entry e = {0};

	if (shard >= 0)
		cas_sidecar_read(shard, cas_hex(digest), &e);
	return mem_strdup(e.content_type);
}

static char *index_text(struct cas *c, const struct wanted *roots, const struct wanted *all)
{
	auto_json json_t *index = json_object();
	json_t *objects = json_array(), *asked = json_array();

	for (size_t i = 0; i < all->count; i++) {
		json_t *o = json_object();
		autofree char *type = type_of(c, all->digests[i]);

		json_put(o, "digest", json_str(all->digests[i]));
		json_put(o, "content_type", json_str(type));
		json_add(objects, o);
	}
	for (size_t i = 0; i < roots->count; i++)
		json_add(asked, json_str(roots->digests[i]));
	json_put(index, "format", json_str(FORMAT));
	json_put(index, "objects", objects);
	json_put(index, "roots", asked);
	return json_text(index);
}

static int put_zeros(int fd, size_t len, struct error *err)
{
	static const char zeros[2 * TAR_RECORD];

	return fd_write_all(fd, zeros, len, err);
}

/* A header; *at grows by its bytes. */
static int put_header(int fd, const char *path, uint64_t size, uint64_t *at, struct error *err)
{
	struct tar_entry e = {.type = TAR_FILE, .path = path, .mode = 0444, .size = size};
	auto_bytes struct bytes header = {0};

	tar_put_header(&header, &e);
	*at += header.len + size + tar_padding(size);
	return fd_write_all(fd, header.data, header.len, err);
}

static int put_object(struct cas *c, const char *digest, int fd, uint64_t *at, struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;
	autofree char *path = str_format(FOLDER "%s", cas_hex(digest));
	autofree unsigned char *data = mem_alloc(CHUNK);
	uint64_t size, done = 0;
	size_t n;
	int more;

	if (cas_reader_open(c, digest, &r, err) < 0)
		return -1;
	size = cas_reader_size(r);
	if (put_header(fd, path, size, at, err) < 0)
		return -1;
	while ((more = cas_reader_next(r, data, CHUNK, &n, err)) > 0) {
		done += n;
		if (done > size)
			return error_set(err, ERR_TAMPERED, "object %s grew", digest);
		if (fd_write_all(fd, data, n, err) < 0)
			return -1;
	}
	return more < 0 ? -1 : put_zeros(fd, tar_padding(size), err);
}

static int gather(struct cas *c, const char *const *digests, size_t count, struct wanted *roots,
	struct wanted *all, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		char digest[DIGEST_TEXT], tree[DIGEST_TEXT];
		auto_json json_t *manifest = NULL;

		if (cas_digest_parse(digests[i], digest, err) < 0 ||
			snapshot_record_find(c, digest, tree, &manifest, err) < 0)
			return -1;
		want(roots, digest);
		want(all, digest);
		want(all, tree);
	}
	tidy(roots);
	tidy(all);
	return 0;
}

int cas_export(struct cas *c, const char *const *digests, size_t count, int fd,
	const struct cas_progress *progress, struct error *err)
{
	struct wanted CLEANUP(wanted_finish) roots = {0}, CLEANUP(wanted_finish) all = {0};
	autofree char *index = NULL;
	uint64_t at = 0;
	size_t len;

	if (gather(c, digests, count, &roots, &all, err) < 0)
		return -1;
	index = index_text(c, &roots, &all);
	len = strlen(index);
	if (put_header(fd, "index.json", len, &at, err) < 0 ||
		fd_write_all(fd, index, len, err) < 0 || put_zeros(fd, tar_padding(len), err) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++) {
		if (put_object(c, all.digests[i], fd, &at, err) < 0)
			return -1;
		if (progress && progress->call)
			progress->call(progress->context, at);
	}
	return put_zeros(fd, tar_end(at), err);
}

static int read_fd(void *context, void *data, size_t len, size_t *ret_len, struct error *err)
{
	const int *fd = context;
	ssize_t n;

	do
		n = read(*fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, "read");
	*ret_len = (size_t)n;
	return n > 0;
}

static int read_index(
	struct tar_reader *r, const struct tar_entry *e, json_t **ret, struct error *err)
{
	autofree char *text = NULL;
	size_t len = 0, n;
	uint64_t at;
	int more;

	if (e->size > INDEX_MAX || e->pieces)
		return error_set(err, ERR_FORMAT, "no export: an index too large");
	text = mem_alloc((size_t)e->size + 1);
	while ((more = tar_data(r, text + len, (size_t)e->size - len, &n, &at, err)) > 0)
		len += n;
	if (more < 0 || json_read(text, len, INDEX_MAX, ret, err) < 0)
		return -1;
	if (strcmp(json_string_value(json_object_get(*ret, "format")) ?: "", FORMAT) != 0 ||
		!json_is_array(json_object_get(*ret, "roots")))
		return error_set(err, ERR_FORMAT, "no export of this program, or of a newer one");
	return 0;
}

static const char *type_in(const json_t *index, const char *digest)
{
	size_t i;
	json_t *o;

	json_array_foreach(json_object_get(index, "objects"), i,
		o) if (strcmp(json_string_value(json_object_get(o, "digest")) ?: "", digest) ==
		       0) return json_string_value(json_object_get(o, "content_type"));
	return NULL;
}

static int take_object(struct cas *c, struct tar_reader *r, const struct tar_entry *e,
	const json_t *index, const struct cas_progress *progress, struct error *err)
{
	auto_sink struct sink *s = NULL;
	struct cas_about about = {0};
	char digest[DIGEST_TEXT];
	int more;

	if (e->type != TAR_FILE || e->pieces || !str_has_prefix(e->path, FOLDER) ||
		!cas_digest_find(e->path + strlen(FOLDER), digest))
		return error_set(err, ERR_FORMAT, "no export: '%.100s' in it", e->path);
	about.content_type = type_in(index, digest);
	if (sink_open(c, NULL, progress, &s, err) < 0)
		return -1;
	do {
		unsigned char *to;
		size_t room, n;
		uint64_t at;

		if (sink_room(s, &to, &room, err) < 0)
			return -1;
		more = tar_data(r, to, room, &n, &at, err);
		if (more > 0 && sink_advance(s, n, SINK_NEW, err) < 0)
			return -1;
	} while (more > 0);
	return more < 0 ? -1 : sink_commit_as(s, &about, digest, err);
}

static int make_roots(
	struct cas *c, const json_t *index, cas_visit *visit, void *context, struct error *err)
{
	size_t i;
	json_t *o;

	json_array_foreach(json_object_get(index, "roots"), i, o)
	{
		struct cas_entry e = {0};
		autofree char *name = NULL;

		if (!json_is_string(o) || !cas_digest_find(json_string_value(o), e.digest))
			return error_set(err, ERR_FORMAT, "no export: a root that is no digest");
		name = str_format("import-%s", cas_hex(e.digest));
		if (cas_root_set(c, name, e.digest, err) < 0)
			return -1;
		if (visit && visit(context, &e, err) < 0)
			return -1;
	}
	return 0;
}

int cas_import(struct cas *c, int fd, cas_visit *visit, void *context,
	const struct cas_progress *progress, struct error *err)
{
	auto_tar_reader struct tar_reader *r = tar_reader_new(read_fd, &fd, false);
	auto_json json_t *index = NULL;
	struct tar_entry e;
	int more = tar_next(r, &e, err);

	if (more < 0)
		return -1;
	if (more == 0 || e.type != TAR_FILE || strcmp(e.path, "index.json") != 0)
		return error_set(err, ERR_FORMAT, "no export: it does not begin with an index");
	if (read_index(r, &e, &index, err) < 0)
		return -1;
	while ((more = tar_next(r, &e, err)) > 0)
		if (take_object(c, r, &e, index, progress, err) < 0)
			return -1;
	return more < 0 ? -1 : make_roots(c, index, visit, context, err);
}
