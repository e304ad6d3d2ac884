/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of canonical ustar streams: see tar.h. The bytes are anybody's until the digest at their
 * end is known, so that every length is bounded before anything is made of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "cas/tar.h"
#include "cas/tar_header.h"

enum { XATTRS_MAX = 4096 };

struct tar_reader {
	tar_source *source;
	void *context;
	bool can_skip;
	uint64_t at;		     /* bytes taken of the stream */
	uint64_t header_at, data_at; /* of the member */
	uint64_t left;		     /* stored bytes of the member's data that are not read */
	size_t padding;		     /* after them */
	bool is_over;
	char *path, *target, *last; /* last: path of the member before */
	struct bytes pax;
	struct tar_xattr *xattrs;
	size_t xattr_count;
	struct tar_piece *pieces;
	size_t piece_count, piece;
	uint64_t in_piece;
};

/* What an extended header says; text is borrowed from it. */
struct records {
	const char *path, *link, *sparse_name;
	uint64_t size, real_size;
	bool has_size, has_real_size, is_sparse;
};

struct tar_reader *tar_reader_new(tar_source *source, void *context, bool can_skip)
{
	struct tar_reader *r = mem_alloc(sizeof(*r));

	r->can_skip = can_skip;
	r->source = source;
	r->context = context;
	return r;
}

static void forget_member(struct tar_reader *r)
{
	mem_cleanup(&r->target);
	free(r->xattrs);
	free(r->pieces);
	bytes_finish(&r->pax);
	r->pax = (struct bytes){0};
	r->xattrs = NULL;
	r->pieces = NULL;
	r->xattr_count = r->piece_count = r->piece = 0;
	r->in_piece = 0;
}

void tar_reader_free(struct tar_reader *r)
{
	if (!r)
		return;
	forget_member(r);
	free(r->path);
	free(r->last);
	free(r);
}

void tar_reader_cleanup(struct tar_reader **r)
{
	tar_reader_free(*r);
	*r = NULL;
}

uint64_t tar_header_at(const struct tar_reader *r)
{
	return r->header_at;
}

uint64_t tar_data_at(const struct tar_reader *r)
{
	return r->data_at;
}

static int bad(struct tar_reader *r, const char *what, struct error *err)
{
	return error_set(
		err, ERR_FORMAT, "no canonical tar: %s at byte %" PRIu64, what, r->header_at);
}

/* Exactly len bytes; data NULL: they are passed over. */
static int take(struct tar_reader *r, void *data, size_t len, struct error *err)
{
	char *p = data;

	while (len > 0) {
		size_t n;
		int more = r->source(r->context, p, len, &n, err);

		if (more < 0)
			return -1;
		if (more == 0)
			return bad(r, "it ends in the middle", err);
		r->at += n;
		p += p ? n : 0;
		len -= n;
	}
	return 0;
}

static int skip(struct tar_reader *r, uint64_t len, struct error *err)
{
	char data[8192];

	if (r->can_skip)
		return take(r, NULL, (size_t)len, err);
	while (len > 0) {
		size_t part = len < sizeof(data) ? (size_t)len : sizeof(data);

		if (take(r, data, part, err) < 0)
			return -1;
		len -= part;
	}
	return 0;
}

/* Octal digits, then a NUL. */
static int number(const char *field, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i + 1 < len; i++) {
		if (field[i] < '0' || field[i] > '7')
			return -1;
		v = v * 8 + (uint64_t)(field[i] - '0');
	}
	*ret = v;
	return field[len - 1] == '\0' ? 0 : -1;
}

static bool is_zero(const void *data, size_t len)
{
	const char *p = data;

	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

static int check_header(struct tar_reader *r, const struct tar_header *h, struct error *err)
{
	const unsigned char *p = (const unsigned char *)h;
	unsigned sum = sizeof(h->checksum) * ' ';
	uint64_t said = 0;

	for (size_t i = 0; i < sizeof(*h); i++)
		sum += p[i];
	for (size_t i = 0; i < sizeof(h->checksum); i++)
		sum -= (unsigned char)h->checksum[i];
	if (number(h->checksum, 7, &said) < 0 || said != sum)
		return bad(r, "a wrong checksum", err);
	if (memcmp(h->magic, "ustar", 6) != 0 || memcmp(h->version, "00", 2) != 0)
		return bad(r, "no ustar header", err);
	return 0;
}

static char *field_text(const char *field, size_t room)
{
	return mem_strndup(field, strnlen(field, room));
}

static int parse_decimal(const char *text, uint64_t *ret)
{
	return num_parse_u64(text, INT64_MAX, ret, NULL);
}

static int add_xattr(struct tar_reader *r, const char *name, const char *value, size_t len)
{
	if (r->xattr_count == XATTRS_MAX || !name[0])
		return -1;
	r->xattrs = mem_grow(r->xattrs, r->xattr_count + 1, sizeof(*r->xattrs));
	r->xattrs[r->xattr_count++] = (struct tar_xattr){name, value, len};
	return 0;
}

/* One record; value is followed by a NUL, which is no part of it. */
static int take_record(
	struct tar_reader *r, struct records *rec, const char *key, const char *value, size_t len)
{
	uint64_t one;

	if (str_has_prefix(key, TAR_XATTR))
		return add_xattr(r, key + strlen(TAR_XATTR), value, len);
	if (strlen(value) != len)
		return -1;
	if (strcmp(key, "path") == 0)
		rec->path = value;
	else if (strcmp(key, "linkpath") == 0)
		rec->link = value;
	else if (strcmp(key, "GNU.sparse.name") == 0)
		rec->sparse_name = value;
	else if (strcmp(key, "size") == 0)
		return rec->has_size = true, parse_decimal(value, &rec->size);
	else if (strcmp(key, "GNU.sparse.realsize") == 0)
		return rec->has_real_size = true, parse_decimal(value, &rec->real_size);
	else if (strcmp(key, "GNU.sparse.major") == 0)
		return rec->is_sparse = true, parse_decimal(value, &one) < 0 || one != 1 ? -1 : 0;
	else if (strcmp(key, "GNU.sparse.minor") == 0)
		return parse_decimal(value, &one) < 0 || one != 0 ? -1 : 0;
	else if (strcmp(key, "hdrcharset") != 0)
		return -1;
	return 0;
}

/* "LENGTH KEY=VALUE\n" again and again; keys and values get NULs in place of '=' and newline. */
static int parse_pax(struct tar_reader *r, struct records *rec)
{
	char *p = (char *)r->pax.data, *end = p + r->pax.len;

	while (p < end) {
		char *digits = p, *key, *equals, *next;
		size_t len = 0;

		while (p < end && *p >= '0' && *p <= '9' && len <= TAR_PAX_MAX)
			len = len * 10 + (size_t)(*p++ - '0');
		if (p == digits || p == end || *p != ' ' || len > (size_t)(end - digits))
			return -1;
		next = digits + len;
		key = p + 1;
		if (next <= key || next[-1] != '\n')
			return -1;
		equals = memchr(key, '=', (size_t)(next - key));
		if (!equals)
			return -1;
		*equals = '\0';
		next[-1] = '\0';
		if (take_record(r, rec, key, equals + 1, (size_t)(next - 1 - (equals + 1))) < 0)
			return -1;
		p = next;
	}
	return 0;
}

static int read_pax(
	struct tar_reader *r, const struct tar_header *h, struct records *rec, struct error *err)
{
	uint64_t size;
	char *data;

	if (number(h->size, sizeof(h->size), &size) < 0 || size == 0 || size > TAR_PAX_MAX)
		return bad(r, "an extended header of a strange size", err);
	data = mem_alloc((size_t)size);
	bytes_put(&r->pax, data, (size_t)size);
	free(data);
	if (take(r, r->pax.data, (size_t)size, err) < 0 || skip(r, tar_padding(size), err) < 0)
		return -1;
	return parse_pax(r, rec) < 0 ? bad(r, "a strange extended header", err) : 0;
}

/* Relative, without empty, "." and ".." parts. */
static bool is_tidy(const char *path)
{
	if (!path[0] || strlen(path) > TAR_PATH_MAX)
		return false;
	for (const char *p = path;; p++) {
		size_t len = strcspn(p, "/");

		if (len == 0 || len > 255 || (len == 1 && p[0] == '.') ||
			(len == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += len;
		if (!*p)
			return true;
	}
}

/* A line of the map: decimal digits and a newline. */
static int map_number(struct tar_reader *r, uint64_t *ret, struct error *err)
{
	char text[24];

	for (size_t i = 0; i < sizeof(text); i++) {
		if (r->left == 0)
			break;
		if (take(r, text + i, 1, err) < 0)
			return -1;
		r->left--;
		if (text[i] == '\n') {
			text[i] = '\0';
			return parse_decimal(text, ret) < 0 ? bad(r, "a strange map", err) : 0;
		}
	}
	return bad(r, "a strange map", err);
}

static int read_map(struct tar_reader *r, struct tar_entry *e, struct error *err)
{
	uint64_t count, end = 0, begin = r->at, sum = 0;
	size_t padding;

	if (map_number(r, &count, err) < 0)
		return -1;
	if (count > TAR_SPARSE_MAX)
		return bad(r, "a map too long", err);
	r->pieces = mem_array((size_t)count + 1, sizeof(*r->pieces));
	for (size_t i = 0; i < count; i++) {
		struct tar_piece *p = &r->pieces[i];

		if (map_number(r, &p->offset, err) < 0 || map_number(r, &p->len, err) < 0)
			return -1;
		if (p->offset < end || p->offset > e->size || p->len > e->size - p->offset)
			return bad(r, "a map out of order", err);
		end = p->offset + p->len;
		sum += p->len;
	}
	padding = tar_padding(r->at - begin);
	if (padding > r->left)
		return bad(r, "a strange map", err);
	r->left -= padding;
	if (skip(r, padding, err) < 0)
		return -1;
	if (sum != r->left)
		return bad(r, "a map of another size", err);
	e->pieces = r->pieces;
	e->piece_count = r->piece_count = (size_t)count;
	return 0;
}

static char *path_of(const struct tar_header *h, const struct records *rec)
{
	autofree char *name = NULL, *prefix = NULL;

	if (rec->is_sparse)
		return mem_strdup(rec->sparse_name ? rec->sparse_name : "");
	if (rec->path)
		return mem_strdup(rec->path);
	name = field_text(h->name, sizeof(h->name));
	if (!h->prefix[0])
		return take_ptr(name);
	prefix = field_text(h->prefix, sizeof(h->prefix));
	return str_format("%s/%s", prefix, name);
}

static int fill(struct tar_reader *r, const struct tar_header *h, const struct records *rec,
	struct tar_entry *e, struct error *err)
{
	uint64_t mode, size;
	size_t len;

	if (number(h->mode, sizeof(h->mode), &mode) < 0 || mode > 07777 ||
		number(h->size, sizeof(h->size), &size) < 0)
		return bad(r, "a strange number", err);
	*e = (struct tar_entry){.mode = (unsigned)mode};
	if (h->type == '0' || h->type == '\0')
		e->type = TAR_FILE;
	else if (h->type == '5')
		e->type = TAR_DIRECTORY;
	else if (h->type == '2')
		e->type = TAR_SYMLINK;
	else
		return bad(r, "a member of another type", err);
	r->path = path_of(h, rec);
	len = strlen(r->path);
	if (e->type == TAR_DIRECTORY && len > 0 && r->path[len - 1] == '/')
		r->path[len - 1] = '\0';
	if (!is_tidy(r->path))
		return bad(r, "a path that is not relative and tidy", err);
	e->is_list = strncmp(h->owner, TAR_LIST_OWNER, sizeof(h->owner)) == 0;
	size = rec->has_size ? rec->size : size;
	if (e->type == TAR_SYMLINK) {
		r->target =
			rec->link ? mem_strdup(rec->link) : field_text(h->link, sizeof(h->link));
		e->target = r->target;
	}
	if ((e->type != TAR_FILE && (size != 0 || rec->is_sparse)) ||
		(e->type == TAR_SYMLINK && !e->target[0]) || rec->is_sparse != rec->has_real_size)
		return bad(r, "a member that contradicts itself", err);
	e->size = rec->is_sparse ? rec->real_size : size;
	e->path = r->path;
	e->xattrs = r->xattrs;
	e->xattr_count = r->xattr_count;
	r->left = size;
	r->padding = tar_padding(size);
	return rec->is_sparse ? read_map(r, e, err) : 0;
}

/* The end: zeros alone until the stream's, which is a multiple of the record. */
static int read_end(struct tar_reader *r, struct error *err)
{
	char data[TAR_RECORD];

	for (;;) {
		size_t n;
		int more = r->source(r->context, data, sizeof(data), &n, err);

		if (more < 0)
			return -1;
		if (more == 0)
			break;
		r->at += n;
		if (!is_zero(data, n))
			return bad(r, "something after the end", err);
	}
	r->is_over = true;
	if (r->at - r->header_at != tar_end(r->header_at))
		return bad(r, "an end of a strange size", err);
	return 0;
}

int tar_next(struct tar_reader *r, struct tar_entry *ret, struct error *err)
{
	struct tar_header h;
	struct records rec = {0};

	if (r->is_over)
		return 0;
	if (skip(r, r->left + r->padding, err) < 0)
		return -1;
	r->left = r->padding = 0;
	forget_member(r);
	r->header_at = r->at;
	if (take(r, &h, sizeof(h), err) < 0)
		return -1;
	if (is_zero(&h, sizeof(h)))
		return read_end(r, err);
	if (check_header(r, &h, err) < 0)
		return -1;
	if (h.type == 'x') {
		if (read_pax(r, &h, &rec, err) < 0 || take(r, &h, sizeof(h), err) < 0 ||
			check_header(r, &h, err) < 0)
			return -1;
	}
	free(r->last);
	r->last = r->path;
	r->path = NULL;
	if (fill(r, &h, &rec, ret, err) < 0)
		return -1;
	/* Our list is the last of all, the others are in the order of their paths. */
	if (r->last && !ret->is_list && strcmp(r->last, r->path) >= 0)
		return bad(r, "members out of order", err);
	r->data_at = r->at;
	return 1;
}

int tar_data(struct tar_reader *r, void *data, size_t len, size_t *ret_len, uint64_t *ret_offset,
	struct error *err)
{
	uint64_t room = r->left;
	size_t n;
	int more;

	while (r->pieces && r->piece < r->piece_count && r->in_piece == r->pieces[r->piece].len) {
		r->piece++;
		r->in_piece = 0;
	}
	if (room == 0)
		return 0;
	*ret_offset = r->in_piece;
	if (r->pieces) {
		room = r->pieces[r->piece].len - r->in_piece;
		*ret_offset = r->pieces[r->piece].offset + r->in_piece;
	}
	more = r->source(r->context, data, len < room ? len : (size_t)room, &n, err);
	if (more < 0)
		return -1;
	if (more == 0)
		return bad(r, "it ends in the middle", err);
	r->at += n;
	r->left -= n;
	r->in_piece += n;
	*ret_len = n;
	return 1;
}
