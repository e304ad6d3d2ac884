/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading objects, verified: see cas.h. Every component is opened by itself and without following
 * a link, so that what somebody plants in the store is refused by the open and not by a look
 * before.
 */
#include "cas/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cas/delta.h"

enum { CHUNK = 256 * 1024, TIMES_MAX = 64 };
/* Zeros that an object may have as holes, where a file system or a copy has made such of them. */
#define HOLES_MAX (UINT64_C(1) << 30)

const char *const cas_state_names[CAS_STATES] = {"intact", "tampered", "absent", "unreadable"};

struct cas_reader {
	char digest[DIGEST_TEXT];
	struct digest *running;
	uint64_t size, done;
	int fd;	      /* of a plain object; -1 */
	bool is_over; /* the end was met and the digest is right */
	struct delta_reader delta;
};

/*
 * Whether most of a file is not there: a terabyte of nothing would be an hour's reading, and costs
 * whoever plants it in the store nothing.
 */
static bool is_hollow(int fd, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size, holes = 0;
	off_t at = 0;

	if ((uint64_t)st->st_blocks * 512 + HOLES_MAX >= size)
		return false;
	while (holes <= HOLES_MAX && at < st->st_size) {
		off_t hole = lseek(fd, at, SEEK_HOLE);

		at = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
		if (at < 0 && errno != ENXIO)
			break;
		at = at < 0 ? st->st_size : at;
		holes += (uint64_t)(at - hole);
	}
	return lseek(fd, 0, SEEK_SET) < 0 || holes > HOLES_MAX;
}

static int hollow(const char *digest, struct error *err)
{
	return error_set(err, ERR_TAMPERED,
		"object %s was tampered with: more than 1 GiB of it are holes, and the store "
		"writes none",
		digest);
}

/* The file of either form. *ret_delta says which. -1 with errno. */
static int open_form(const struct cas *c, const char *hex, bool *ret_delta, struct stat *ret_st)
{
	char delta[CAS_NAME_MAX];
	autoclose int shard = cas_shard_open(c, hex);
	int fd;

	if (shard < 0)
		return -1;
	*ret_delta = false;
	fd = cas_file_open(shard, hex, ret_st);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	snprintf(delta, sizeof(delta), "%s.delta", hex);
	*ret_delta = true;
	return cas_file_open(shard, delta, ret_st);
}

int cas_stored_find(
	const struct cas *c, const char *hex, char ret_base[DIGEST_TEXT], struct error *err)
{
	struct stat st;
	uint64_t size;
	bool is_delta;
	autoclose int fd = open_form(c, hex, &is_delta, &st);

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, "open sha256:%s", hex);
	ret_base[0] = '\0';
	if (is_delta && delta_read_header(fd, ret_base, &size, err) < 0)
		return -1;
	return 1;
}

int cas_plain_open(const struct cas *c, const char *digest, char ret_digest[DIGEST_TEXT])
{
	char text[DIGEST_TEXT], base[DIGEST_TEXT];
	struct stat st;
	uint64_t size;
	bool is_delta;
	autoclose int fd = -1;

	if (!cas_digest_find(digest, text))
		return -1;
	fd = open_form(c, cas_hex(text), &is_delta, &st);
	if (fd >= 0 && is_delta) {
		if (delta_read_header(fd, base, &size, NULL) < 0)
			return -1;
		fd_close(&fd);
		memcpy(text, base, sizeof(text));
		fd = open_form(c, cas_hex(text), &is_delta, &st);
		if (is_delta)
			return -1;
	}
	memcpy(ret_digest, text, sizeof(text));
	return take_fd(fd);
}

void cas_reader_close(struct cas_reader *r)
{
	if (!r)
		return;
	fd_close(&r->fd);
	delta_reader_finish(&r->delta);
	digest_free(r->running);
	free(r);
}

void cas_reader_cleanup(struct cas_reader **r)
{
	cas_reader_close(*r);
	*r = NULL;
}

static int open_delta(struct cas *c, struct cas_reader *r, int *fd, struct error *err)
{
	char base[DIGEST_TEXT];
	struct stat st;
	bool is_delta;
	int plain;

	if (delta_read_header(*fd, base, &r->size, err) < 0)
		return -1;
	plain = open_form(c, cas_hex(base), &is_delta, &st);
	if (plain >= 0 && is_delta)
		fd_close(&plain);
	if (plain < 0) {
		/* The object itself is there: it is not absent. */
		error_sys(err, "open %s, which it is stored as a difference to", base);
		err->code = ERR_SYSTEM;
		return -1;
	}
	if (is_hollow(plain, &st)) {
		close(plain);
		return hollow(base, err);
	}
	if (delta_reader_init(&r->delta, take_fd(*fd), plain, err) < 0)
		return -1;
	/* Ranges may name the same bytes again and again; of what we write few do. */
	if (r->size / TIMES_MAX > r->delta.base_size + r->delta.table + HOLES_MAX)
		return error_set(err, ERR_TAMPERED, "its stored form claims %llu bytes",
			(unsigned long long)r->size);
	return 0;
}

int cas_reader_open(struct cas *c, const char *digest, struct cas_reader **ret, struct error *err)
{
	auto_cas_reader struct cas_reader *r = mem_alloc(sizeof(*r));
	autoclose int fd = -1;
	struct error why;
	struct stat st;
	bool is_delta;

	r->fd = r->delta.fd = r->delta.base = -1;
	if (cas_digest_parse(digest, r->digest, err) < 0)
		return -1;
	fd = open_form(c, cas_hex(r->digest), &is_delta, &st);
	if (fd < 0)
		return error_sys(err, "open object %s", r->digest);
	if (!is_delta && is_hollow(fd, &st))
		return hollow(r->digest, err);
	if (!is_delta) {
		r->size = (uint64_t)st.st_size;
		(void)!posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		r->fd = take_fd(fd);
	} else if (open_delta(c, r, &fd, &why) < 0) {
		if (err)
			*err = why;
		return error_wrap(err, "object %s", r->digest);
	}
	r->running = digest_new();
	*ret = take_ptr(r);
	return 0;
}

uint64_t cas_reader_size(const struct cas_reader *r)
{
	return r->size;
}

static int read_some(
	struct cas_reader *r, void *data, size_t len, size_t *ret_len, struct error *err)
{
	ssize_t n;

	if (r->fd < 0)
		return delta_reader_next(&r->delta, data, len, ret_len, err);
	do
		n = read(r->fd, data, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, "read object %s", r->digest);
	*ret_len = (size_t)n;
	return n > 0;
}

int cas_reader_next(
	struct cas_reader *r, void *data, size_t len, size_t *ret_len, struct error *err)
{
	char found[DIGEST_TEXT];
	int more;

	if (r->is_over)
		return 0;
	more = read_some(r, data, len, ret_len, err);
	if (more < 0)
		return error_wrap(err, "object %s", r->digest);
	if (more > 0) {
		r->done += *ret_len;
		digest_update(r->running, data, *ret_len);
		return 1;
	}
	digest_text(r->running, found);
	if (strcmp(found, r->digest) != 0)
		return error_set(err, ERR_TAMPERED,
			"object %s was tampered with: its bytes are those of %s", r->digest, found);
	r->is_over = true;
	return 0;
}

int cas_get(struct cas *c, const char *digest, size_t max, char **ret_data, size_t *ret_len,
	struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;
	autofree char *data = NULL;
	size_t len = 0, size, n;
	int more = 1;

	if (cas_reader_open(c, digest, &r, err) < 0)
		return -1;
	if (r->size > max)
		return error_set(err, ERR_LIMIT, "object %s has more than %zu bytes", digest, max);
	size = (size_t)r->size;
	data = mem_alloc(size + 2);
	/* A byte more than it should have, so that a file that has grown is not taken for whole. */
	while (len <= size && (more = cas_reader_next(r, data + len, size + 1 - len, &n, err)) > 0)
		len += n;
	if (more < 0)
		return -1;
	if (more > 0)
		return error_set(err, ERR_TAMPERED, "object %s grew while it was read", digest);
	data[len] = '\0';
	*ret_data = take_ptr(data);
	*ret_len = len;
	return 0;
}

static int read_through(
	struct cas_reader *r, int fd, const struct cas_progress *progress, struct error *err)
{
	autofree unsigned char *data = mem_alloc(CHUNK);
	size_t n;
	int more;

	while ((more = cas_reader_next(r, data, CHUNK, &n, err)) > 0) {
		if (fd >= 0 && fd_write_all(fd, data, n, err) < 0)
			return -1;
		if (progress && progress->call)
			progress->call(progress->context, r->done);
	}
	return more;
}

int cas_get_fd(struct cas *c, const char *digest, int fd, const struct cas_progress *progress,
	struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;

	return cas_reader_open(c, digest, &r, err) < 0 ? -1 : read_through(r, fd, progress, err);
}

enum cas_state cas_verify(
	struct cas *c, const char *digest, const struct cas_progress *progress, struct error *err)
{
	auto_cas_reader struct cas_reader *r = NULL;
	struct error why = {0};

	if (cas_reader_open(c, digest, &r, &why) == 0 && read_through(r, -1, progress, &why) == 0)
		return CAS_INTACT;
	if (err)
		*err = why;
	if (why.code == ERR_TAMPERED)
		return CAS_TAMPERED;
	return why.code == ERR_MISSING ? CAS_ABSENT : CAS_UNREADABLE;
}

int cas_hold(struct cas *c, const char *digest, struct error *err)
{
	char text[DIGEST_TEXT], base[DIGEST_TEXT];

	if (cas_digest_parse(digest, text, err) < 0)
		return -1;
	if (c->mode == CAS_WRITE && cas_pin(c, cas_hex(text), err) < 0)
		return -1;
	return cas_stored_find(c, cas_hex(text), base, err);
}
