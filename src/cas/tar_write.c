/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical ustar headers: see tar.h. The digits are laid out as Python's tarfile lays them out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cas/tar.h"
#include "cas/tar_header.h"

/* ustar's twelve octal digits end here. */
#define SIZE_MAX_USTAR 077777777777ull

static void record_add(struct bytes *pax, const char *key, const void *value, size_t len)
{
	size_t rest = 1 + strlen(key) + 1 + len + 1, total = rest + 1;
	char digits[24];

	/* The length counts its own digits. */
	while (total != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", total))
		total++;
	bytes_put(pax, digits, strlen(digits));
	bytes_put_u8(pax, ' ');
	bytes_put(pax, key, strlen(key));
	bytes_put_u8(pax, '=');
	bytes_put(pax, value, len);
	bytes_put_u8(pax, '\n');
}

static void record_text(struct bytes *pax, const char *key, const char *value)
{
	record_add(pax, key, value, strlen(value));
}

static void record_number(struct bytes *pax, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	record_text(pax, key, text);
}

/* Where the path is cut into prefix and name, 0 when it fits into the name, -1 when it cannot. */
static long cut_of(const char *path, size_t len)
{
	if (len <= TAR_NAME)
		return 0;
	for (size_t i = len > TAR_NAME ? len - TAR_NAME - 1 : 0; i + 1 < len; i++)
		if (path[i] == '/' && i > 0)
			return i <= TAR_PREFIX ? (long)i : -1;
	return -1;
}

/* Leading zeros up to the NUL at the field's end; a printf would be a tenth of a snapshot. */
static void octal(char *field, size_t size, uint64_t value)
{
	field[size - 1] = '\0';
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

static void put_block(struct bytes *out, const struct tar_header *h)
{
	struct tar_header copy = *h;
	const unsigned char *p = (const unsigned char *)&copy;
	unsigned sum = 0;

	memcpy(copy.magic, "ustar", 6);
	memcpy(copy.version, "00", 2);
	octal(copy.uid, sizeof(copy.uid), 0);
	octal(copy.gid, sizeof(copy.gid), 0);
	octal(copy.mtime, sizeof(copy.mtime), 0);
	memset(copy.checksum, ' ', sizeof(copy.checksum));
	for (size_t i = 0; i < sizeof(copy); i++)
		sum += p[i];
	octal(copy.checksum, sizeof(copy.checksum) - 1, sum);
	copy.checksum[7] = ' ';
	bytes_put(out, &copy, sizeof(copy));
}

static void put_padding(struct bytes *out, uint64_t size)
{
	static const unsigned char zeros[TAR_BLOCK];

	bytes_put(out, zeros, tar_padding(size));
}

static void put_pax(struct bytes *out, const struct bytes *pax)
{
	struct tar_header h = {.type = 'x'};

	if (pax->len == 0)
		return;
	memcpy(h.name, TAR_PAX_NAME, strlen(TAR_PAX_NAME));
	octal(h.mode, sizeof(h.mode), 0644);
	octal(h.size, sizeof(h.size), pax->len);
	put_block(out, &h);
	bytes_put(out, pax->data, pax->len);
	put_padding(out, pax->len);
}

/* The map of a file with holes, as GNU tar's format 1.0 has it: decimal lines, padded. */
static void put_map(struct bytes *map, const struct tar_entry *e)
{
	char line[64];

	snprintf(line, sizeof(line), "%zu\n", e->piece_count);
	bytes_put(map, line, strlen(line));
	for (size_t i = 0; i < e->piece_count; i++) {
		snprintf(line, sizeof(line), "%" PRIu64 "\n%" PRIu64 "\n", e->pieces[i].offset,
			e->pieces[i].len);
		bytes_put(map, line, strlen(line));
	}
	put_padding(map, map->len);
}

uint64_t tar_data_size(const struct tar_entry *e)
{
	uint64_t sum = 0;

	if (!e->pieces)
		return e->type == TAR_FILE ? e->size : 0;
	for (size_t i = 0; i < e->piece_count; i++)
		sum += e->pieces[i].len;
	return sum;
}

/* Records sorted by their keys, which are bytes: capitals first. */
static void put_records(struct bytes *pax, const struct tar_entry *e, const char *path,
	uint64_t stored, bool is_long)
{
	bool is_binary = (is_long && !str_is_utf8(path, strlen(path))) ||
			 (e->target && strlen(e->target) > TAR_NAME &&
				 !str_is_utf8(e->target, strlen(e->target)));

	if (e->pieces) {
		record_text(pax, "GNU.sparse.major", "1");
		record_text(pax, "GNU.sparse.minor", "0");
		record_text(pax, "GNU.sparse.name", e->path);
		record_number(pax, "GNU.sparse.realsize", e->size);
	}
	for (size_t i = 0; i < e->xattr_count; i++) {
		autofree char *key = str_format(TAR_XATTR "%s", e->xattrs[i].name);

		record_add(pax, key, e->xattrs[i].value, e->xattrs[i].len);
	}
	if (is_binary)
		record_text(pax, "hdrcharset", "BINARY");
	if (e->target && strlen(e->target) > TAR_NAME)
		record_text(pax, "linkpath", e->target);
	if (is_long && !e->pieces)
		record_text(pax, "path", path);
	if (stored > SIZE_MAX_USTAR)
		record_number(pax, "size", stored);
}

static void copy_field(char *to, size_t room, const char *from, size_t len)
{
	memcpy(to, from, len < room ? len : room);
}

void tar_put_header(struct bytes *out, const struct tar_entry *e)
{
	static const char types[] = {[TAR_FILE] = '0', [TAR_DIRECTORY] = '5', [TAR_SYMLINK] = '2'};
	autofree char *path = str_format("%s%s", e->path, e->type == TAR_DIRECTORY ? "/" : "");
	auto_bytes struct bytes map = {0}, pax = {0};
	struct tar_header h = {.type = types[e->type]};
	size_t len = strlen(path);
	long cut = cut_of(path, len);
	uint64_t stored;

	if (e->pieces)
		put_map(&map, e);
	stored = map.len + tar_data_size(e);
	put_records(&pax, e, path, stored, cut < 0);
	put_pax(out, &pax);
	if (cut > 0) {
		copy_field(h.prefix, sizeof(h.prefix), path, (size_t)cut);
		copy_field(h.name, sizeof(h.name), path + cut + 1, len - (size_t)cut - 1);
	} else {
		copy_field(h.name, sizeof(h.name), path, len);
	}
	if (e->target)
		copy_field(h.link, sizeof(h.link), e->target, strlen(e->target));
	if (e->is_list)
		memcpy(h.owner, TAR_LIST_OWNER, strlen(TAR_LIST_OWNER));
	octal(h.mode, sizeof(h.mode), e->mode & 07777);
	octal(h.size, sizeof(h.size), stored > SIZE_MAX_USTAR ? 0 : stored);
	put_block(out, &h);
	bytes_put(out, map.data, map.len);
}

size_t tar_padding(uint64_t size)
{
	return (size_t)(-size % TAR_BLOCK);
}

size_t tar_end(uint64_t size)
{
	uint64_t end = size + 2 * TAR_BLOCK;

	return (size_t)(2 * TAR_BLOCK + (TAR_RECORD - end % TAR_RECORD) % TAR_RECORD);
}
