/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian integers and blocks through cursors: see bytes.h. */
#include "base/bytes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void bytes_finish(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

void bytes_put(struct bytes *b, const void *data, size_t len)
{
	if (b->len + len > b->room) {
		b->room = (b->len + len) * 2 + 64;
		b->data = mem_grow(b->data, b->room, 1);
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

void bytes_put_u8(struct bytes *b, uint8_t v)
{
	bytes_put(b, &v, sizeof(v));
}

void bytes_put_u16(struct bytes *b, uint16_t v)
{
	v = htole16(v);
	bytes_put(b, &v, sizeof(v));
}

void bytes_put_u32(struct bytes *b, uint32_t v)
{
	v = htole32(v);
	bytes_put(b, &v, sizeof(v));
}

void bytes_put_u64(struct bytes *b, uint64_t v)
{
	v = htole64(v);
	bytes_put(b, &v, sizeof(v));
}

void bytes_put_block(struct bytes *b, const void *data, size_t len)
{
	bytes_put_u32(b, (uint32_t)len);
	bytes_put(b, data, len);
}

void bytes_put_string(struct bytes *b, const char *s)
{
	bytes_put_block(b, s, strlen(s));
}

struct bytes_reader bytes_reader(const void *data, size_t len)
{
	const unsigned char *p = data;

	return (struct bytes_reader){.pos = p, .end = p + len};
}

void bytes_get(struct bytes_reader *r, void *ret_data, size_t len)
{
	if (r->bad || (size_t)(r->end - r->pos) < len) {
		r->bad = true;
		memset(ret_data, 0, len);
		return;
	}
	memcpy(ret_data, r->pos, len);
	r->pos += len;
}

uint8_t bytes_get_u8(struct bytes_reader *r)
{
	uint8_t v;

	bytes_get(r, &v, sizeof(v));
	return v;
}

uint16_t bytes_get_u16(struct bytes_reader *r)
{
	uint16_t v;

	bytes_get(r, &v, sizeof(v));
	return le16toh(v);
}

uint32_t bytes_get_u32(struct bytes_reader *r)
{
	uint32_t v;

	bytes_get(r, &v, sizeof(v));
	return le32toh(v);
}

uint64_t bytes_get_u64(struct bytes_reader *r)
{
	uint64_t v;

	bytes_get(r, &v, sizeof(v));
	return le64toh(v);
}

const unsigned char *bytes_get_block(struct bytes_reader *r, size_t max, size_t *ret_len)
{
	const unsigned char *p;
	size_t len = bytes_get_u32(r);

	*ret_len = 0;
	if (r->bad || len > max || (size_t)(r->end - r->pos) < len) {
		r->bad = true;
		return NULL;
	}
	p = r->pos;
	r->pos += len;
	*ret_len = len;
	return p;
}

char *bytes_get_string(struct bytes_reader *r, size_t max)
{
	size_t len;
	const unsigned char *p = bytes_get_block(r, max, &len);

	if (!p || memchr(p, '\0', len)) {
		r->bad = true;
		return mem_strdup("");
	}
	return mem_strndup((const char *)p, len);
}

uint32_t bytes_load_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

uint64_t bytes_load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

void bytes_store_u32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

void bytes_store_u64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}
