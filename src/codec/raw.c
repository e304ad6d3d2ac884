/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text read in place: see raw.h. */
#include "codec/raw.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/raw_text.h"

enum { FEW_KEYS = 8 };

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Walking. Each skip returns the place after what stands at p, at most end. */

const char *raw_skip_space(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

static const char *skip_value(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
		} else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			if (depth == 0)
				return p;
			depth--;
			p++;
		} else if (depth > 0) {
			p++;
			continue;
		} else if (*p == ',' || *p == ':' || is_space(*p)) {
			return p;
		} else {
			p++;
			continue;
		}
		if (depth == 0)
			return p;
	}
	return end;
}

char raw_kind(struct raw value)
{
	return value.text && value.len > 0 ? value.text[0] : '\0';
}

struct raw_walk raw_walk(struct raw container)
{
	char kind = raw_kind(container);

	if (kind != '{' && kind != '[')
		return (struct raw_walk){0};
	return (struct raw_walk){container.text + 1, container.text + container.len, kind == '{'};
}

/* A value at the walk's place. */
static bool take(struct raw_walk *w, struct raw *ret)
{
	const char *start = raw_skip_space(w->pos, w->end);

	w->pos = skip_value(start, w->end);
	*ret = (struct raw){start, (size_t)(w->pos - start)};
	w->pos = raw_skip_space(w->pos, w->end);
	return ret->len > 0;
}

bool raw_next(struct raw_walk *w, struct raw *ret_key, struct raw *ret_value)
{
	struct raw key = {0};

	if (!w->pos || w->pos >= w->end)
		return false;
	if (w->is_object) {
		if (!take(w, &key) || raw_kind(key) != '"' || w->pos >= w->end || *w->pos != ':')
			return false;
		w->pos++;
	}
	if (!take(w, ret_value))
		return false;
	if (w->pos < w->end && *w->pos == ',')
		w->pos++;
	if (ret_key)
		*ret_key = key;
	return true;
}

/* Strings. */

static int hex_digit(char c)
{
	return raw_is_digit(c)	      ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

int raw_hex_4(const char *p, const char *end)
{
	int value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static void put_character(struct bytes *out, unsigned c)
{
	if (c < 0x80) {
		bytes_put_u8(out, (uint8_t)c);
	} else if (c < 0x800) {
		bytes_put_u8(out, (uint8_t)(0xc0 | c >> 6));
		bytes_put_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		bytes_put_u8(out, (uint8_t)(0xe0 | c >> 12));
		bytes_put_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		bytes_put_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		bytes_put_u8(out, (uint8_t)(0xf0 | c >> 18));
		bytes_put_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		bytes_put_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		bytes_put_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

/* What \uXXXX at p (after the backslash) stands for; *p moves past it, and past a second half. */
static unsigned take_unicode(const char **p, const char *end)
{
	int high = raw_hex_4(*p + 1, end), low = -1;

	*p += 5;
	if (high < 0xd800 || high > 0xdfff)
		return high < 0 ? 0xfffd : (unsigned)high;
	if (high < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u')
		low = raw_hex_4(*p + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*p += 6;
	return 0x10000u + (((unsigned)high - 0xd800) << 10) + ((unsigned)low - 0xdc00);
}

static void decode_string(struct bytes *out, struct raw s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = s.text + 1, *end = s.text + s.len - 1;

	while (p < end) {
		const char *at;

		if (*p != '\\' || p + 1 >= end) {
			bytes_put_u8(out, (uint8_t)*p++);
			continue;
		}
		p++;
		if (*p == 'u' && end - p >= 5) {
			put_character(out, take_unicode(&p, end));
			continue;
		}
		at = *p ? strchr(from, *p) : NULL;
		bytes_put_u8(out, (uint8_t)(at ? to[at - from] : *p));
		p++;
	}
}

static bool is_string(struct raw s)
{
	return raw_kind(s) == '"' && s.len >= 2;
}

char *raw_string(struct raw s)
{
	struct bytes out = {0};

	if (!is_string(s))
		return NULL;
	if (!memchr(s.text, '\\', s.len))
		return mem_strndup(s.text + 1, s.len - 2);
	decode_string(&out, s);
	if (out.len && memchr(out.data, 0, out.len)) {
		bytes_finish(&out);
		return NULL;
	}
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

bool raw_is(struct raw s, const char *word)
{
	size_t len = strlen(word);
	autofree char *text = NULL;

	if (!is_string(s))
		return false;
	if (!memchr(s.text, '\\', s.len))
		return s.len == len + 2 && memcmp(s.text + 1, word, len) == 0;
	text = raw_string(s);
	return text && strcmp(text, word) == 0;
}

bool raw_find(struct raw object, const char *name, struct raw *ret)
{
	struct raw_walk w = raw_walk(object);
	struct raw key, value;
	bool found = false;

	while (w.is_object && raw_next(&w, &key, &value))
		if (raw_is(key, name)) {
			*ret = value;
			found = true;
		}
	return found;
}

char *raw_find_string(struct raw object, const char *name)
{
	struct raw value;

	return raw_find(object, name, &value) ? raw_string(value) : NULL;
}

/* Keys by what they say, not by how that is written. */
static int compare_keys(const void *a, const void *b)
{
	struct bytes x = {0}, y = {0};
	struct raw k, m;
	size_t least;
	int order;

	memcpy(&k, a, sizeof(k));
	memcpy(&m, b, sizeof(m));
	if (!memchr(k.text, '\\', k.len) && !memchr(m.text, '\\', m.len)) {
		least = k.len < m.len ? k.len : m.len;
		order = memcmp(k.text + 1, m.text + 1, least - 2);
		return order ? order : (k.len > m.len) - (k.len < m.len);
	}
	decode_string(&x, k);
	decode_string(&y, m);
	least = x.len < y.len ? x.len : y.len;
	order = least ? memcmp(x.data, y.data, least) : 0;
	order = order ? order : (x.len > y.len) - (x.len < y.len);
	bytes_finish(&x);
	bytes_finish(&y);
	return order;
}

struct member {
	struct raw key, value; /* key first: compare_keys looks at nothing else */
};

/* The members of an object, sorted (caller frees). */
static struct member *sorted_members(struct raw object, size_t *ret_count)
{
	struct raw_walk w = raw_walk(object);
	struct member *list = NULL, m;
	size_t count = 0, room = 0;

	while (raw_next(&w, &m.key, &m.value)) {
		if (!is_string(m.key))
			break;
		if (count == room) {
			room = room ? 2 * room : FEW_KEYS;
			list = mem_grow(list, room, sizeof(*list));
		}
		list[count++] = m;
	}
	if (count > 1)
		qsort(list, count, sizeof(*list), compare_keys);
	*ret_count = count;
	return list;
}

static void write_sorted(struct bytes *out, struct raw value, int depth)
{
	autofree struct member *list = NULL;
	struct raw_walk w = raw_walk(value);
	char kind = raw_kind(value);
	struct raw item;
	size_t count = 0;

	if ((kind != '{' && kind != '[') || depth > RAW_DEPTH_MAX) {
		bytes_put(out, value.text, value.len);
		return;
	}
	bytes_put_u8(out, (uint8_t)kind);
	if (kind == '{') {
		list = sorted_members(value, &count);
		for (size_t i = 0; i < count; i++) {
			if (i > 0)
				bytes_put_u8(out, ',');
			bytes_put(out, list[i].key.text, list[i].key.len);
			bytes_put_u8(out, ':');
			write_sorted(out, list[i].value, depth + 1);
		}
	} else {
		while (raw_next(&w, NULL, &item)) {
			if (count++ > 0)
				bytes_put_u8(out, ',');
			write_sorted(out, item, depth + 1);
		}
	}
	bytes_put_u8(out, kind == '{' ? '}' : ']');
}

void raw_sorted(struct bytes *out, struct raw value)
{
	write_sorted(out, value, 0);
}

bool raw_has_duplicates(struct raw object)
{
	size_t count;
	autofree struct member *list = sorted_members(object, &count);

	for (size_t i = 1; i < count; i++)
		if (compare_keys(&list[i - 1], &list[i]) == 0)
			return true;
	return false;
}
