/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of a file are nothing but zeros: see holes.h.
 *
 * How it works. What the file system calls a hole is zeros and need not be read. Elsewhere a look
 * at the first bytes of each block says of nearly every block that it is none.
 */
#include "cas/holes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { GLANCE = 64 };

struct scan {
	int fd;
	uint64_t size, unit;
	uint64_t data_from, data_to; /* the stretch of data that the system names */
	unsigned char *block;
	struct tar_piece *pieces;
	size_t count, room, most;
};

static void scan_finish(struct scan *s)
{
	free(s->block);
	free(s->pieces);
}

static int read_part(struct scan *s, uint64_t at, size_t len, struct error *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(s->fd, s->block + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			return error_set(err, ERR_BUSY, "it became shorter while it was read");
		done += (size_t)n;
	}
	return 0;
}

static bool is_zero(const unsigned char *p, size_t len)
{
	return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Sets data_from and data_to to the first stretch that ends after `at`. */
static void look_for_data(struct scan *s, uint64_t at)
{
	off_t from = lseek(s->fd, (off_t)at, SEEK_DATA), to;

	if (from < 0 && errno == ENXIO) {
		s->data_from = s->data_to = s->size;
		return;
	}
	to = from < 0 ? -1 : lseek(s->fd, from, SEEK_HOLE);
	/* A file system that cannot say has data everywhere. */
	s->data_from = from < 0 ? at : (uint64_t)from;
	s->data_to = to < 0 ? s->size : (uint64_t)to;
}

/* 1 when the block at this offset holds nothing but zeros. */
static int is_hole(struct scan *s, uint64_t at, size_t len, struct error *err)
{
	size_t glance = len < GLANCE ? len : GLANCE;

	if (at >= s->data_to)
		look_for_data(s, at);
	if (at + len <= s->data_from)
		return 1;
	if (read_part(s, at, glance, err) < 0)
		return -1;
	if (!is_zero(s->block, glance))
		return 0;
	return read_part(s, at, len, err) < 0 ? -1 : is_zero(s->block, len);
}

static uint64_t end_of(const struct tar_piece *p)
{
	return p->offset + p->len;
}

/* Appends a stretch of data, as whole units. */
static void append(struct scan *s, uint64_t from, uint64_t to)
{
	struct tar_piece *last = s->count ? &s->pieces[s->count - 1] : NULL;

	from = from / s->unit * s->unit;
	to = to > s->size - s->size % s->unit ? s->size : (to + s->unit - 1) / s->unit * s->unit;
	if (last && end_of(last) >= from) {
		last->len = (end_of(last) > to ? end_of(last) : to) - last->offset;
		return;
	}
	if (!s->pieces || s->count == s->room) {
		s->room = s->room * 2 + 16;
		s->pieces = mem_grow(s->pieces, s->room, sizeof(*s->pieces));
	}
	s->pieces[s->count++] = (struct tar_piece){from, to - from};
}

/*
 * A longer map than there may be is made again of blocks twice as large. That is what a look at
 * such blocks from the start would have given, so how far the scan had come does not matter.
 */
static void add_data(struct scan *s, uint64_t from, uint64_t to)
{
	append(s, from, to);
	while (s->count > s->most) {
		size_t count = s->count;

		s->unit *= 2;
		s->count = 0;
		for (size_t i = 0; i < count; i++)
			append(s, s->pieces[i].offset, end_of(&s->pieces[i]));
	}
}

static int scan(struct scan *s, struct error *err)
{
	for (uint64_t at = 0; at < s->size; at += HOLES_BLOCK) {
		size_t len = s->size - at < HOLES_BLOCK ? (size_t)(s->size - at) : HOLES_BLOCK;
		int hole;

		if (s->count && at < end_of(&s->pieces[s->count - 1]))
			continue;
		hole = is_hole(s, at, len, err);
		if (hole < 0)
			return -1;
		if (hole == 0) {
			add_data(s, at, at + len);
		} else if (s->data_from > at + 2 * HOLES_BLOCK) {
			/* A whole hole at once. */
			uint64_t skip =
				(s->data_from - at) / HOLES_BLOCK * HOLES_BLOCK - HOLES_BLOCK;

			if (at + skip + HOLES_BLOCK <= s->size)
				at += skip;
		}
	}
	return 0;
}

int holes_find(int fd, uint64_t size, size_t most, struct tar_piece **ret, size_t *ret_count,
	struct error *err)
{
	struct scan CLEANUP(scan_finish)
		s = {.fd = fd, .size = size, .most = most, .unit = HOLES_BLOCK};
	uint64_t data = 0;

	if (size < HOLES_MIN)
		return 0;
	s.block = mem_alloc(HOLES_BLOCK);
	if (scan(&s, err) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++)
		data += s.pieces[i].len;
	if (size - data < HOLES_MIN)
		return 0;
	/* GNU tar takes a file to end with its last piece, were it an empty one. */
	if (s.count == 0 || end_of(&s.pieces[s.count - 1]) < size) {
		s.pieces = mem_grow(s.pieces, s.count + 1, sizeof(*s.pieces));
		s.pieces[s.count++] = (struct tar_piece){size, 0};
	}
	*ret = take_ptr(s.pieces);
	*ret_count = s.count;
	return 1;
}
