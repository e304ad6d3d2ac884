/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical JSON: see json.h. */
#include "codec/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { DEPTH_MAX = 64 };

void json_cleanup(json_t **value)
{
	json_decref(*value);
	*value = NULL;
}

/* The character at *p, which jansson has checked to be UTF-8; moves *p past it. */
static uint32_t take_character(const unsigned char **p)
{
	const unsigned char *s = *p;
	unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	for (unsigned i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	*p += n;
	return c;
}

static void write_escape(struct bytes *out, uint32_t c)
{
	static const char short_of[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	char text[16];

	if (c == '"' || c == '\\')
		snprintf(text, sizeof(text), "\\%c", (char)c);
	else if (c < sizeof(short_of) && short_of[c])
		snprintf(text, sizeof(text), "\\%c", short_of[c]);
	else if (c < 0x10000)
		snprintf(text, sizeof(text), "\\u%04x", c);
	else
		snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	bytes_put(out, text, strlen(text));
}

/* What a form does its own way. */
struct form {
	const char *comma, *colon;
	bool is_ascii;
	int (*compare)(const void *a, const void *b);
};

static bool is_as_it_is(const struct form *f, uint32_t c)
{
	return c >= ' ' && c != '"' && c != '\\' && (c <= '~' || !f->is_ascii);
}

static void write_string(struct bytes *out, const struct form *f, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + len, *start = p;

	bytes_put_u8(out, '"');
	while (p < end) {
		const unsigned char *here = p;
		uint32_t c = take_character(&p);

		if (is_as_it_is(f, c))
			continue;
		bytes_put(out, start, (size_t)(here - start));
		write_escape(out, c);
		start = p;
	}
	bytes_put(out, start, (size_t)(p - start));
	bytes_put_u8(out, '"');
}

static int compare_bytes(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x, y);
}

/*
 * Where a code point stands among UTF-16 code units: one past U+FFFF begins with a surrogate
 * (U+D800 on), which comes before U+E000.
 */
static uint32_t utf16_rank(uint32_t c)
{
	return c >= 0x10000 ? c : c >= 0xe000 ? c + 0x200000 : c;
}

static int compare_utf16(const void *a, const void *b)
{
	const unsigned char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	while (*x && *x == *y) {
		x++;
		y++;
	}
	/* Back to the start of the character in which they part. */
	while ((*x & 0xc0) == 0x80 || (*y & 0xc0) == 0x80) {
		x--;
		y--;
	}
	if (!*x || !*y)
		return (*x > *y) - (*x < *y);
	uint32_t c = utf16_rank(take_character(&x)), d = utf16_rank(take_character(&y));

	return (c > d) - (c < d);
}

static const struct form forms[JSON_FORMS] = {
	[JSON_PLAIN] = {",", ":", true, compare_bytes},
	[JSON_SPACED] = {", ", ": ", true, compare_bytes},
	[JSON_JCS] = {",", ":", false, compare_utf16},
};

static void write_value(struct bytes *out, const struct form *f, const json_t *value);

static void write_object(struct bytes *out, const struct form *f, const json_t *value)
{
	size_t count = json_object_size(value), n = 0;
	autofree const char **keys = mem_array(count, sizeof(*keys));
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)(uintptr_t)value, key, item) keys[n++] = key;
	qsort(keys, n, sizeof(*keys), f->compare);
	bytes_put_u8(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			bytes_put(out, f->comma, strlen(f->comma));
		write_string(out, f, keys[i], strlen(keys[i]));
		bytes_put(out, f->colon, strlen(f->colon));
		write_value(out, f, json_object_get(value, keys[i]));
	}
	bytes_put_u8(out, '}');
}

static void write_array(struct bytes *out, const struct form *f, const json_t *value)
{
	bytes_put_u8(out, '[');
	for (size_t i = 0; i < json_array_size(value); i++) {
		if (i > 0)
			bytes_put(out, f->comma, strlen(f->comma));
		write_value(out, f, json_array_get(value, i));
	}
	bytes_put_u8(out, ']');
}

static void write_value(struct bytes *out, const struct form *f, const json_t *value)
{
	char number[32];

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		write_object(out, f, value);
		break;
	case JSON_ARRAY:
		write_array(out, f, value);
		break;
	case JSON_STRING:
		write_string(out, f, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		snprintf(
			number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		bytes_put(out, number, strlen(number));
		break;
	case JSON_TRUE:
		bytes_put(out, "true", 4);
		break;
	case JSON_FALSE:
		bytes_put(out, "false", 5);
		break;
	case JSON_NULL:
		bytes_put(out, "null", 4);
		break;
	case JSON_REAL:
	default:
		abort();
	}
}

void json_write_as(struct bytes *out, const json_t *value, enum json_form form)
{
	write_value(out, &forms[form], value);
}

void json_write(struct bytes *out, const json_t *value)
{
	json_write_as(out, value, JSON_PLAIN);
}

char *json_text(const json_t *value)
{
	struct bytes out = {0};

	json_write(&out, value);
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

static json_t *must(json_t *value)
{
	if (!value)
		abort();
	return value;
}

json_t *json_bytes(const char *data, size_t len)
{
	autofree char *hex = NULL;
	json_t *object;

	if (str_is_utf8(data, len))
		return must(json_stringn(data, len));
	hex = mem_alloc(2 * len + 1);
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)data[i]);
	object = must(json_object());
	json_put(object, "hex", must(json_string(hex)));
	return object;
}

json_t *json_str(const char *s)
{
	return json_bytes(s, strlen(s));
}

json_t *json_u64(uint64_t v)
{
	return v > INT64_MAX ? json_null() : must(json_integer((json_int_t)v));
}

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, must(value)) < 0)
		abort();
}

void json_add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, must(value)) < 0)
		abort();
}

/* Depth is counted before parsing: jansson's own limit is 2048, more than our recursion wants. */
static bool is_too_deep(const char *text, size_t len)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '[' || c == '{') && ++depth > DEPTH_MAX)
			return true;
		else if (!quoted && (c == ']' || c == '}') && depth > 0)
			depth--;
	}
	return false;
}

static bool has_real(const json_t *value)
{
	const char *key;
	json_t *item;

	if (json_is_real(value))
		return true;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (has_real(json_array_get(value, i)))
			return true;
	json_object_foreach((json_t *)(uintptr_t)value, key, item) if (has_real(item)) return true;
	return false;
}

static int load(
	const char *text, size_t len, size_t max, size_t flags, json_t **ret, struct error *err)
{
	json_error_t why;

	if (len > max)
		return error_set(err, ERR_LIMIT, "JSON of %zu bytes; the limit is %zu", len, max);
	if (is_too_deep(text, len))
		return error_set(err, ERR_LIMIT, "JSON deeper than %d levels", DEPTH_MAX);
	*ret = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &why);
	if (!*ret)
		return error_set(
			err, ERR_FORMAT, "line %d column %d: %s", why.line, why.column, why.text);
	return 0;
}

int json_read(const char *text, size_t len, size_t max, json_t **ret, struct error *err)
{
	auto_json json_t *value = NULL;

	if (load(text, len, max, 0, &value, err) < 0)
		return -1;
	if (has_real(value))
		return error_set(err, ERR_FORMAT, "a number with a fraction or an exponent");
	*ret = value;
	value = NULL;
	return 0;
}

int json_read_numbers(
	const char *text, size_t len, size_t max, bool all_real, json_t **ret, struct error *err)
{
	return load(text, len, max, all_real ? JSON_DECODE_INT_AS_REAL : 0, ret, err);
}
