/* SPDX-License-Identifier: Apache-2.0 */
/* An object stored as what it has in common with another one: see delta.h. */
#include "cas/delta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"

#define MAGIC "sandglass-delta1"
#define IN_FILE (1ull << 63)
/* Where the size and the table's offset are in the header. */
enum { MAGIC_SIZE = 16, AT_SIZE = 48, AT_TABLE = 56, BEGIN_EACH = 1 << 20 };

void delta_init(struct delta *d, int fd)
{
	*d = (struct delta){.fd = fd, .end = DELTA_HEADER};
}

void delta_finish(struct delta *d)
{
	free(d->ranges);
	*d = (struct delta){.fd = -1};
}

static void add(struct delta *d, uint64_t from, uint64_t len)
{
	struct delta_range *last = d->count ? &d->ranges[d->count - 1] : NULL;

	d->size += len;
	if (last && last->from + last->len == from) {
		last->len += len;
		return;
	}
	if (!d->ranges || d->count == d->room) {
		d->room = d->room * 2 + 64;
		d->ranges = mem_grow(d->ranges, d->room, sizeof(*d->ranges));
	}
	d->ranges[d->count++] = (struct delta_range){from, len};
}

void delta_copy(struct delta *d, uint64_t from, uint64_t len)
{
	add(d, from, len);
}

static int write_at(int fd, const void *data, size_t len, uint64_t at, struct error *err)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "write");
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int delta_literal(struct delta *d, const void *data, size_t len, struct error *err)
{
	if (fault_point("cas: write") < 0)
		return error_sys(err, "write");
	if (write_at(d->fd, data, len, d->end, err) < 0)
		return -1;
	add(d, d->end | IN_FILE, len);
	d->end += len;
	/* So that the sync at the end is short. */
	if (d->end - d->begun >= BEGIN_EACH) {
		(void)!sync_file_range(
			d->fd, (off_t)d->begun, (off_t)(d->end - d->begun), SYNC_FILE_RANGE_WRITE);
		d->begun = d->end;
	}
	return 0;
}

static unsigned hex_value(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

int delta_close(struct delta *d, const char base[DIGEST_TEXT], struct error *err)
{
	unsigned char header[DELTA_HEADER] = {0};
	auto_bytes struct bytes table = {0};

	memcpy(header, MAGIC, MAGIC_SIZE);
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		header[MAGIC_SIZE + i] = (unsigned char)(hex_value(base[7 + 2 * i]) << 4 |
							 hex_value(base[8 + 2 * i]));
	bytes_store_u64(header + AT_SIZE, d->size);
	bytes_store_u64(header + AT_TABLE, d->end);
	bytes_put_u64(&table, d->count);
	for (size_t i = 0; i < d->count; i++) {
		bytes_put_u64(&table, d->ranges[i].from);
		bytes_put_u64(&table, d->ranges[i].len);
	}
	if (fault_point("cas: write a table") < 0)
		return error_sys(err, "write");
	if (write_at(d->fd, table.data, table.len, d->end, err) < 0)
		return -1;
	return write_at(d->fd, header, sizeof(header), 0, err);
}

static int malformed(struct error *err)
{
	return error_set(err, ERR_TAMPERED, "its stored form is malformed");
}

/* All of it: 0, or -1 with ERR_TAMPERED when the file is too short. */
static int read_at(int fd, void *data, size_t len, uint64_t at, struct error *err)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			return malformed(err);
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int delta_read_header(int fd, char ret_base[DIGEST_TEXT], uint64_t *ret_size, struct error *err)
{
	unsigned char header[DELTA_HEADER];

	if (read_at(fd, header, sizeof(header), 0, err) < 0)
		return -1;
	if (memcmp(header, MAGIC, MAGIC_SIZE) != 0)
		return malformed(err);
	memcpy(ret_base, "sha256:", 7);
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		snprintf(ret_base + 7 + 2 * i, 3, "%02x", header[MAGIC_SIZE + i]);
	*ret_size = bytes_load_u64(header + AT_SIZE);
	return 0;
}

int delta_reader_init(struct delta_reader *r, int fd, int base, struct error *err)
{
	unsigned char header[DELTA_HEADER], count[8];
	struct stat st, base_st;

	*r = (struct delta_reader){.fd = fd, .base = base};
	if (fstat(fd, &st) < 0 || fstat(base, &base_st) < 0)
		return error_sys(err, "look at an object");
	if (read_at(fd, header, sizeof(header), 0, err) < 0)
		return -1;
	r->size = bytes_load_u64(header + AT_SIZE);
	r->table = bytes_load_u64(header + AT_TABLE);
	r->base_size = (uint64_t)base_st.st_size;
	if (r->size >= IN_FILE || r->table < DELTA_HEADER || r->table > (uint64_t)st.st_size)
		return malformed(err);
	if (read_at(fd, count, sizeof(count), r->table, err) < 0)
		return -1;
	r->left = bytes_load_u64(count);
	r->next = r->table + sizeof(count);
	if (r->left > ((uint64_t)st.st_size - r->table) / DELTA_RANGE)
		return malformed(err);
	return 0;
}

void delta_reader_finish(struct delta_reader *r)
{
	fd_close(&r->fd);
	fd_close(&r->base);
}

static int next_range(struct delta_reader *r, struct error *err)
{
	unsigned char row[DELTA_RANGE];
	uint64_t from, end;

	if (read_at(r->fd, row, sizeof(row), r->next, err) < 0)
		return -1;
	r->next += sizeof(row);
	r->left--;
	r->range = (struct delta_range){bytes_load_u64(row), bytes_load_u64(row + 8)};
	from = r->range.from & ~IN_FILE;
	end = r->range.from & IN_FILE ? r->table : r->base_size;
	if (r->range.len == 0 || from > end || r->range.len > end - from ||
		r->range.len > r->size - r->done)
		return malformed(err);
	return 0;
}

int delta_reader_next(
	struct delta_reader *r, void *data, size_t len, size_t *ret_len, struct error *err)
{
	bool in_file;

	if (r->range.len == 0) {
		if (r->left == 0)
			return r->done == r->size ? 0 : malformed(err);
		if (next_range(r, err) < 0)
			return -1;
	}
	in_file = (r->range.from & IN_FILE) != 0;
	if (len > r->range.len)
		len = r->range.len;
	if (read_at(in_file ? r->fd : r->base, data, len, r->range.from & ~IN_FILE, err) < 0)
		return -1;
	r->range.from += len;
	r->range.len -= len;
	r->done += len;
	*ret_len = len;
	return 1;
}
