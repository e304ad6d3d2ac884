/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what nothing leads to: see cas.h.
 *
 * How it works. With the store's lock held exclusively no pin and no root can come into being. What
 * roots and living handles name is marked, then what that leads to; the rest is removed. A put pins
 * its digest before it looks whether the object is there, so that it either sees it and keeps it,
 * or comes after us and writes it again. Whatever cannot be read while marking ends the gc: nothing
 * is removed on half the knowledge.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cas/inside.h"
#include "cas/list.h"
#include "cas/read.h"
#include "cas/snapshot.h"

enum { FILES_MAX = 50000000, PIN_BYTES_MAX = 64 << 20 };

struct marks {
	char (*digests)[DIGEST_TEXT];
	size_t count, room;
};

static void marks_finish(struct marks *m)
{
	free(m->digests);
	*m = (struct marks){0};
}

static void mark(struct marks *m, const char digest[DIGEST_TEXT])
{
	if (m->count == m->room) {
		m->room = m->room * 2 + 64;
		m->digests = mem_grow(m->digests, m->room, sizeof(*m->digests));
	}
	memcpy(m->digests[m->count++], digest, DIGEST_TEXT);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, DIGEST_TEXT);
}

static void sort(struct marks *m)
{
	if (m->count > 0)
		qsort(m->digests, m->count, sizeof(*m->digests), compare);
}

static bool is_marked(const struct marks *m, const char *digest)
{
	return m->count > 0 &&
	       bsearch(digest, m->digests, m->count, sizeof(*m->digests), compare) != NULL;
}

/* Marks the object and what it leads to: its tree when it is a record, and what it is made from. */
static int follow(struct cas *c, struct marks *m, const char digest[DIGEST_TEXT], bool is_record,
	struct error *err)
{
	char base[DIGEST_TEXT], tree[DIGEST_TEXT];
	auto_json json_t *manifest = NULL;
	int there;

	/* Also what is not there yet: its writer may put it there while we sweep. */
	mark(m, digest);
	there = cas_stored_find(c, cas_hex(digest), base, err);
	if (there <= 0)
		return there;
	if (base[0])
		mark(m, base);
	if (!is_record)
		return 1;
	there = snapshot_record_find(c, digest, tree, &manifest, err);
	if (there < 0)
		return -1;
	return there == 0 || follow(c, m, tree, false, err) >= 0 ? 1 : -1;
}

static int mark_roots(struct cas *c, struct marks *m, struct error *err)
{
	autofree struct cas_root *roots = NULL;
	size_t count;

	if (cas_roots(c, &roots, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		int r = follow(c, m, roots[i].digest, true, err);

		if (r == 0)
			return error_set(err, ERR_MISSING,
				"the root '%s' leads to %s, which is not there; 'sandglass cas gc "
				"--unroot %s' forgets it",
				roots[i].name, roots[i].digest, roots[i].name);
		if (r < 0)
			return error_wrap(err, "root '%s'", roots[i].name);
	}
	return 0;
}

static int mark_pin(struct cas *c, struct marks *m, const char *name, struct error *err)
{
	autofree char *text = NULL;
	autoclose int fd = -1;
	struct stat st;
	size_t len;

	fd = cas_file_open(c->pins, name, &st);
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open a pin");
	/* Ours too is locked: by another open file. */
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	if (fd_slurp(fd, PIN_BYTES_MAX, &text, &len, err) < 0)
		return -1;
	for (size_t at = 0; at + CAS_HEX < len; at += CAS_HEX + 1) {
		char digest[DIGEST_TEXT];

		text[at + CAS_HEX] = '\0';
		if (cas_digest_find(text + at, digest) && follow(c, m, digest, true, err) < 0)
			return -1;
	}
	return 0;
}

static int mark_pins(struct cas *c, struct marks *m, struct error *err)
{
	auto_names struct beneath_names names = {0};

	if (beneath_list(c->pins, FILES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (mark_pin(c, m, names.items[i], err) < 0)
			return -1;
	return 0;
}

struct sweeping {
	struct cas *c;
	struct cas_gc *gc;
	const struct marks *marks;
};

static int sweep_one(void *context, const struct cas_entry *e, struct error *err)
{
	const struct sweeping *s = context;
	char names[3][CAS_NAME_MAX];
	autoclose int shard = -1;

	if (is_marked(s->marks, e->digest)) {
		s->gc->kept_objects++;
		return 0;
	}
	s->gc->removed_objects++;
	s->gc->removed_bytes += e->stored;
	if (s->gc->removed && s->gc->removed(s->gc->context, e, err) < 0)
		return -1;
	if (s->gc->is_dry)
		return 0;
	shard = cas_shard_open(s->c, cas_hex(e->digest));
	if (shard < 0)
		return error_sys(err, "open a shard of the store");
	/* The sidecar first: an object without one is an object, the other is refuse. */
	snprintf(names[0], CAS_NAME_MAX, "%s.meta.json", cas_hex(e->digest));
	snprintf(names[1], CAS_NAME_MAX, "%s.delta", cas_hex(e->digest));
	snprintf(names[2], CAS_NAME_MAX, "%s", cas_hex(e->digest));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (fault_point("cas: remove an object") < 0 ||
			(unlinkat(shard, names[i], 0) < 0 && errno != ENOENT))
			return error_sys(err, "remove %s", e->digest);
	return 0;
}

/* Sidecars whose object is gone: a writer or a gc was killed between the two. */
static int sweep_sidecars(struct cas *c, const char *shard_name, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int shard =
		openat(c->root, shard_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (shard < 0 || beneath_list(shard, FILES_MAX, &names, err) < 0)
		return shard < 0 ? error_sys(err, "open '%s' of the store", shard_name) : -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		char hex[CAS_HEX + 1], base[DIGEST_TEXT];

		if (strlen(name) != CAS_HEX + 10 || strcmp(name + CAS_HEX, ".meta.json") != 0)
			continue;
		snprintf(hex, sizeof(hex), "%.64s", name);
		if (cas_stored_find(c, hex, base, NULL) == 0)
			unlinkat(shard, name, 0);
	}
	return 0;
}

static int sweep(struct cas *c, struct cas_gc *gc, const struct marks *m, struct error *err)
{
	struct sweeping s = {c, gc, m};
	auto_names struct beneath_names names = {0};

	if (cas_list(c, sweep_one, &s, err) < 0)
		return -1;
	if (gc->is_dry)
		return 0;
	if (beneath_list(c->root, FILES_MAX, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (cas_is_shard(names.items[i]) && sweep_sidecars(c, names.items[i], err) < 0)
			return -1;
	return 0;
}

int cas_gc(struct cas *c, struct cas_gc *gc, struct error *err)
{
	struct marks CLEANUP(marks_finish) m = {0};
	autoclose int lock = -1;

	gc->kept_objects = gc->removed_objects = gc->removed_bytes = 0;
	if (c->mode != CAS_WRITE)
		return error_set(err, ERR_USAGE, "the store was opened for reading alone");
	if (cas_lock(c, LOCK_EX, &lock, err) < 0)
		return -1;
	if (mark_roots(c, &m, err) < 0 || mark_pins(c, &m, err) < 0)
		return error_wrap(err, "nothing was removed");
	sort(&m);
	return sweep(c, gc, &m, err);
}
