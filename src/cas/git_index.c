/* SPDX-License-Identifier: Apache-2.0 */
/* A git index without what stat said: see git_index.h. Its format: gitformat-index(5). */
#include "cas/git_index.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "crypto/sha1.h"

enum {
	STAT_BYTES = 40, /* two times, device, inode, mode, owner, group, size */
	MODE_AT = 24,
	FLAG_EXTENDED = 0x4000,
	NAME_MASK = 0xfff,
	NAME_MAX_BYTES = 1 << 16,
};

struct parse {
	const unsigned char *pos, *end;
	uint32_t version, count;
	char *name; /* of the entry before, NAME_MAX_BYTES + 1 */
	size_t name_len;
	bool has_extended, has_sparse_dirs;
	struct bytes entries;
};

static void parse_finish(struct parse *p)
{
	mem_cleanup(&p->name);
	bytes_finish(&p->entries);
}

static uint32_t load(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put(struct bytes *out, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		bytes_put_u8(out, (uint8_t)(v >> shift));
}

static void put_zeros(struct bytes *out, size_t n)
{
	while (n-- > 0)
		bytes_put_u8(out, 0);
}

static int malformed(struct error *err)
{
	return error_set(err, ERR_FORMAT, "a malformed git index");
}

/* A name of version 4: how much of the last one to cut off, then what follows. */
static int take_compressed(struct parse *p)
{
	uint64_t cut;
	const unsigned char *nul;
	size_t len;

	if (p->pos == p->end)
		return -1;
	cut = *p->pos & 127;
	while (*p->pos++ & 128) {
		if (p->pos == p->end || cut > NAME_MAX_BYTES)
			return -1;
		cut = ((cut + 1) << 7) | (*p->pos & 127);
	}
	nul = memchr(p->pos, 0, (size_t)(p->end - p->pos));
	if (!nul || cut > p->name_len)
		return -1;
	len = (size_t)(nul - p->pos);
	p->name_len -= (size_t)cut;
	if (len > NAME_MAX_BYTES - p->name_len)
		return -1;
	memcpy(p->name + p->name_len, p->pos, len);
	p->name_len += len;
	p->pos = nul + 1;
	return 0;
}

/* A name of the older versions, with its NULs up to a multiple of eight bytes. */
static int take_plain(struct parse *p, const unsigned char *entry)
{
	const unsigned char *nul = memchr(p->pos, 0, (size_t)(p->end - p->pos));
	size_t padded;

	if (!nul || nul - p->pos > NAME_MAX_BYTES)
		return -1;
	p->name_len = (size_t)(nul - p->pos);
	memcpy(p->name, p->pos, p->name_len);
	padded = ((size_t)(nul - entry) + 8) & ~(size_t)7;
	if (padded > (size_t)(p->end - entry))
		return -1;
	p->pos = entry + padded;
	return 0;
}

static int take_entry(struct parse *p)
{
	const unsigned char *entry = p->pos;
	size_t fixed = STAT_BYTES + SHA1_SIZE + 2, begin = p->entries.len, shown;
	unsigned flags, more = 0;

	if ((size_t)(p->end - entry) < fixed + 2)
		return -1;
	flags = (unsigned)entry[fixed - 2] << 8 | entry[fixed - 1];
	if (flags & FLAG_EXTENDED) {
		if (p->version < 3)
			return -1;
		more = (unsigned)entry[fixed] << 8 | entry[fixed + 1];
		fixed += 2;
	}
	p->pos = entry + fixed;
	if ((p->version == 4 ? take_compressed(p) : take_plain(p, entry)) < 0 || p->name_len == 0)
		return -1;
	put_zeros(&p->entries, MODE_AT);
	bytes_put(&p->entries, entry + MODE_AT, 4);
	put_zeros(&p->entries, STAT_BYTES - MODE_AT - 4);
	bytes_put(&p->entries, entry + STAT_BYTES, SHA1_SIZE);
	shown = p->name_len < NAME_MASK ? p->name_len : NAME_MASK;
	flags = (flags & ~(unsigned)(NAME_MASK | FLAG_EXTENDED)) | (unsigned)shown |
		(more ? FLAG_EXTENDED : 0);
	bytes_put_u8(&p->entries, (uint8_t)(flags >> 8));
	bytes_put_u8(&p->entries, (uint8_t)flags);
	if (more) {
		p->has_extended = true;
		bytes_put_u8(&p->entries, (uint8_t)(more >> 8));
		bytes_put_u8(&p->entries, (uint8_t)more);
	}
	bytes_put(&p->entries, p->name, p->name_len);
	put_zeros(&p->entries, 8 - (p->entries.len - begin) % 8);
	return 0;
}

/* Extensions with a capital may be left out, the others change what the entries mean. */
static int take_extensions(struct parse *p, struct error *err)
{
	while (p->pos < p->end) {
		uint32_t size;

		if (p->end - p->pos < 8)
			return malformed(err);
		size = load(p->pos + 4);
		if (size > (size_t)(p->end - p->pos) - 8)
			return malformed(err);
		if (memcmp(p->pos, "sdir", 4) == 0)
			p->has_sparse_dirs = true;
		else if (p->pos[0] < 'A' || p->pos[0] > 'Z')
			return error_set(err, ERR_UNSUPPORTED,
				"a git index with the extension '%.4s' cannot be normalised; keep "
				"or drop .git, or run 'git update-index --no-split-index'",
				(const char *)p->pos);
		p->pos += 8 + size;
	}
	return 0;
}

int git_index_normalise(const void *data, size_t len, struct bytes *out, struct error *err)
{
	const unsigned char *bytes = data;
	struct parse CLEANUP(parse_finish) p = {0};
	unsigned char sum[SHA1_SIZE];
	size_t begin = out->len;

	if (len < 12 + SHA1_SIZE || memcmp(bytes, "DIRC", 4) != 0)
		return malformed(err);
	p.version = load(bytes + 4);
	p.count = load(bytes + 8);
	if (p.version < 2 || p.version > 4)
		return error_set(
			err, ERR_UNSUPPORTED, "a git index of the unknown version %u", p.version);
	p.pos = bytes + 12;
	p.end = bytes + len - SHA1_SIZE;
	p.name = mem_alloc(NAME_MAX_BYTES + 1);
	for (uint32_t i = 0; i < p.count; i++) {
		if (take_entry(&p) < 0)
			return malformed(err);
		/* Version 4 says a long name again in a few bytes. */
		if (p.entries.len > GIT_INDEX_MAX)
			return error_set(err, ERR_LIMIT,
				"a git index of more than %d bytes without its compression",
				GIT_INDEX_MAX);
	}
	if (take_extensions(&p, err) < 0)
		return -1;
	bytes_put(out, "DIRC", 4);
	put(out, p.has_extended ? 3 : 2);
	put(out, p.count);
	bytes_put(out, p.entries.data, p.entries.len);
	if (p.has_sparse_dirs) {
		bytes_put(out, "sdir", 4);
		put(out, 0);
	}
	sha1_of(out->data + begin, out->len - begin, sum);
	bytes_put(out, sum, sizeof(sum));
	return 0;
}
