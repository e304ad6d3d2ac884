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
	uint64_t size, zeros, data_from, data_to; /* the stretch of data that the system names */
	unsigned char *block;
	struct tar_piece *pieces;
	size_t count, room;
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

static void add_data(struct scan *s, uint64_t at, size_t len)
{
	struct tar_piece *last = s->count ? &s->pieces[s->count - 1] : NULL;

	if (last && last->offset + last->len == at) {
		last->len += len;
		return;
	}
	if (!s->pieces || s->count == s->room) {
		s->room = s->room * 2 + 16;
		s->pieces = mem_grow(s->pieces, s->room, sizeof(*s->pieces));
	}
	s->pieces[s->count++] = (struct tar_piece){at, len};
}

int holes_find(int fd, uint64_t size, struct tar_piece **ret, size_t *ret_count, struct error *err)
{
	struct scan CLEANUP(scan_finish) s = {.fd = fd, .size = size};

	if (size < HOLES_MIN)
		return 0;
	s.block = mem_alloc(HOLES_BLOCK);
	for (uint64_t at = 0; at < size; at += HOLES_BLOCK) {
		size_t len = size - at < HOLES_BLOCK ? (size_t)(size - at) : HOLES_BLOCK;
		int hole = is_hole(&s, at, len, err);

		if (hole < 0)
			return -1;
		if (hole > 0)
			s.zeros += len;
		else
			add_data(&s, at, len);
		/* Over the longest map there may be, the rest is data, zeros or not. */
		if (s.count == TAR_SPARSE_MAX - 1) {
			add_data(&s, at + len, 0);
			s.pieces[s.count - 1].len = size - s.pieces[s.count - 1].offset;
			break;
		}
		/* A whole hole at once. */
		if (hole > 0 && s.data_from > at + 2 * HOLES_BLOCK) {
			uint64_t skip =
				(s.data_from - at) / HOLES_BLOCK * HOLES_BLOCK - HOLES_BLOCK;

			if (at + skip + HOLES_BLOCK <= size) {
				s.zeros += skip;
				at += skip;
			}
		}
	}
	if (s.zeros < HOLES_MIN)
		return 0;
	/* GNU tar takes a file to end with its last piece, were it an empty one. */
	if (s.count == 0 || s.pieces[s.count - 1].offset + s.pieces[s.count - 1].len < size)
		add_data(&s, size, 0);
	*ret = take_ptr(s.pieces);
	*ret_count = s.count;
	return 1;
}
