/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object on its way into the store: see sink.h.
 *
 * How it works. Bytes gather in a slot of the hasher. A full slot is written to a file in tmp and
 * passed to the hasher, which works while the next one fills. With a base each piece is compared
 * with the bytes that the caller expects to be the same: if they are, only that fact is written.
 */
#include "cas/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cas/delta.h"
#include "cas/hasher.h"
#include "cas/inside.h"
#include "cas/publish.h"
#include "cas/read.h"

enum {
	/* Bytes after which the disk is told to begin, so that the sync at the end is short. */
	FLUSH_EACH = 8 << 20,
	WINDOW = 4 << 20,
};

struct sink {
	struct cas *c; /* NULL: the digest alone */
	const struct cas_progress *progress;
	struct hasher *hasher;
	size_t used; /* of the slot */
	uint64_t size, flushed;
	int fd;
	char tmp[CAS_RANDOM + 1];
	bool is_delta;
	int base; /* plain bytes; -1: none */
	char base_digest[DIGEST_TEXT];
	struct delta delta;
	unsigned char *base_map;
	uint64_t base_size, seen_from, seen_to; /* what of it is populated */
};

void sink_close(struct sink *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		unlinkat(s->c->tmp, s->tmp, 0);
	fd_close(&s->fd);
	fd_close(&s->base);
	hasher_free(s->hasher);
	delta_finish(&s->delta);
	if (s->base_map)
		munmap(s->base_map, (size_t)s->base_size);
	free(s);
}

void sink_cleanup(struct sink **s)
{
	sink_close(*s);
	*s = NULL;
}

/* What there is of a base; without one everything is new. */
static void open_base(struct sink *s, const char *digest)
{
	autoclose int fd = cas_plain_open(s->c, digest, s->base_digest);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
		return;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	s->base_map = map;
	s->base_size = (uint64_t)st.st_size;
	s->base = take_fd(fd);
	s->is_delta = true;
}

int sink_open(struct cas *c, const char *base, const struct cas_progress *progress,
	struct sink **ret, struct error *err)
{
	auto_sink struct sink *s = mem_alloc(sizeof(*s));

	s->c = c;
	s->progress = progress;
	s->fd = s->base = s->delta.fd = -1;
	if (hasher_new(&s->hasher, err) < 0)
		return -1;
	if (c && cas_tmp_make(c, s->tmp, &s->fd, err) < 0)
		return -1;
	if (c && base)
		open_base(s, base);
	if (s->is_delta) {
		/* It stays until the new object, which then leads to it, is there. */
		if (cas_pin(c, cas_hex(s->base_digest), err) < 0)
			return -1;
		delta_init(&s->delta, s->fd);
	}
	*ret = take_ptr(s);
	return 0;
}

int sink_base(const struct sink *s)
{
	return s->base;
}

uint64_t sink_size(const struct sink *s)
{
	return s->size;
}

static int flush(struct sink *s, struct error *err)
{
	if (s->c && !s->is_delta && s->used > 0) {
		if (fault_point("cas: write") < 0)
			return error_sys(err, "write");
		if (fd_write_all(s->fd, hasher_slot(s->hasher), s->used, err) < 0)
			return error_wrap(err, "put an object into the store");
		if (s->size - s->flushed >= FLUSH_EACH) {
			(void)!sync_file_range(s->fd, (off_t)s->flushed,
				(off_t)(s->size - s->flushed), SYNC_FILE_RANGE_WRITE);
			s->flushed = s->size;
		}
	}
	if (hasher_pass(s->hasher, s->used, err) < 0)
		return -1;
	s->used = 0;
	if (s->progress && s->progress->call)
		s->progress->call(s->progress->context, s->size);
	return 0;
}

int sink_room(struct sink *s, unsigned char **ret, size_t *ret_len, struct error *err)
{
	if (s->used == HASHER_SLOT && flush(s, err) < 0)
		return -1;
	*ret = hasher_slot(s->hasher) + s->used;
	*ret_len = HASHER_SLOT - s->used;
	return 0;
}

const unsigned char *sink_base_bytes(struct sink *s, uint64_t at, size_t len)
{
	uint64_t from, to;

	if (at > s->base_size || len > s->base_size - at)
		return NULL;
	from = at & ~(uint64_t)(WINDOW - 1);
	to = (at + len + WINDOW - 1) & ~(uint64_t)(WINDOW - 1);
	to = to < s->base_size ? to : s->base_size;
	/* Populated by a call, a page that the disk cannot give is an error and no signal. */
	if ((from < s->seen_from || to > s->seen_to) &&
		madvise(s->base_map + from, (size_t)(to - from), MADV_POPULATE_READ) < 0)
		return NULL;
	s->seen_from = from;
	s->seen_to = to;
	return s->base_map + at;
}

static bool is_same(struct sink *s, const unsigned char *data, size_t len, uint64_t hint)
{
	const unsigned char *old = sink_base_bytes(s, hint, len);

	return old && memcmp(old, data, len) == 0;
}

int sink_advance(struct sink *s, size_t len, uint64_t hint, struct error *err)
{
	const unsigned char *data = hasher_slot(s->hasher) + s->used;

	s->used += len;
	s->size += len;
	if (!s->is_delta || len == 0)
		return 0;
	if (hint != SINK_NEW && s->delta.count < DELTA_RANGES_MAX && is_same(s, data, len, hint)) {
		delta_copy(&s->delta, hint, len);
		return 0;
	}
	return delta_literal(&s->delta, data, len, err);
}

int sink_write(struct sink *s, const void *data, size_t len, uint64_t hint, struct error *err)
{
	const unsigned char *p = data;

	while (len > 0) {
		unsigned char *to;
		size_t room;

		if (sink_room(s, &to, &room, err) < 0)
			return -1;
		room = room < len ? room : len;
		memcpy(to, p, room);
		if (sink_advance(s, room, hint, err) < 0)
			return -1;
		p += room;
		len -= room;
		hint = hint == SINK_NEW ? hint : hint + room;
	}
	return 0;
}

int sink_zeros(struct sink *s, size_t len, uint64_t hint, struct error *err)
{
	while (len > 0) {
		unsigned char *to;
		size_t room;

		if (sink_room(s, &to, &room, err) < 0)
			return -1;
		room = room < len ? room : len;
		memset(to, 0, room);
		if (sink_advance(s, room, hint, err) < 0)
			return -1;
		len -= room;
		hint = hint == SINK_NEW ? hint : hint + room;
	}
	return 0;
}

/* What was written as a difference, as the plain bytes of another file in tmp. */
static int make_plain(struct sink *s, struct error *err)
{
	enum { CHUNK = 256 * 1024 };
	autofree unsigned char *data = mem_alloc(CHUNK);
	struct delta_reader CLEANUP(delta_reader_finish) r = {.fd = -1, .base = -1};
	char tmp[CAS_RANDOM + 1];
	autoclose int fd = -1;
	size_t n;
	int more = -1;

	if (cas_tmp_make(s->c, tmp, &fd, err) < 0)
		return -1;
	if (delta_reader_init(&r, fcntl(s->fd, F_DUPFD_CLOEXEC, 3),
		    fcntl(s->base, F_DUPFD_CLOEXEC, 3), err) == 0)
		while ((more = delta_reader_next(&r, data, CHUNK, &n, err)) > 0)
			if (fd_write_all(fd, data, n, err) < 0) {
				more = -1;
				break;
			}
	if (more < 0) {
		unlinkat(s->c->tmp, tmp, 0);
		return error_wrap(err, "put an object into the store");
	}
	unlinkat(s->c->tmp, s->tmp, 0);
	fd_close(&s->fd);
	s->fd = take_fd(fd);
	memcpy(s->tmp, tmp, sizeof(tmp));
	s->is_delta = false;
	return 0;
}

/* Nothing is won by a difference that is half as large as the whole. */
static bool is_worth(const struct delta *d)
{
	return d->end + d->count * DELTA_RANGE + DELTA_HEADER <= d->size / 2;
}

static int publish_as(
	struct sink *s, const struct cas_about *about, const char *digest, struct error *err)
{
	int r;

	do {
		struct publish p = {s->fd, s->tmp, cas_hex(digest), s->size, s->is_delta};

		r = publish(s->c, &p, about, err);
		if (r > 0 && make_plain(s, err) < 0)
			return -1;
	} while (r > 0);
	/* Renamed or removed. */
	fd_close(&s->fd);
	return r;
}

static int commit(struct sink *s, const struct cas_about *about, const char *expected,
	char ret[DIGEST_TEXT], struct error *err)
{
	char digest[DIGEST_TEXT];

	if (flush(s, err) < 0 || hasher_finish(s->hasher, digest, err) < 0)
		return -1;
	if (expected && strcmp(expected, digest) != 0)
		return error_set(err, ERR_TAMPERED, "the bytes are those of %s, not of %s", digest,
			expected);
	if (s->c && s->is_delta) {
		if (delta_close(&s->delta, s->base_digest, err) < 0)
			return -1;
		if (!is_worth(&s->delta) && make_plain(s, err) < 0)
			return -1;
	}
	if (s->c && publish_as(s, about, digest, err) < 0)
		return -1;
	memcpy(ret, digest, sizeof(digest));
	return 0;
}

int sink_commit(
	struct sink *s, const struct cas_about *about, char ret[DIGEST_TEXT], struct error *err)
{
	return commit(s, about, NULL, ret, err);
}

int sink_commit_as(struct sink *s, const struct cas_about *about, const char expected[DIGEST_TEXT],
	struct error *err)
{
	char digest[DIGEST_TEXT];

	return commit(s, about, expected, digest, err);
}
