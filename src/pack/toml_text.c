/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, keys and comments of TOML: see toml_inside.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "pack/toml_inside.h"

int toml_wrong(const struct toml *t, const char *what)
{
	unsigned line = 1;

	for (const char *p = t->start; p < t->pos; p++)
		line += *p == '\n';
	return error_set(t->err, ERR_FORMAT, "line %u: %s", line, what);
}

void toml_skip_blanks(struct toml *t)
{
	while (*t->pos == ' ' || *t->pos == '\t')
		t->pos++;
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

int toml_skip_comment(struct toml *t)
{
	if (*t->pos != '#')
		return 0;
	for (; t->pos < t->end && *t->pos != '\n'; t->pos++)
		if (is_control(*t->pos))
			return toml_wrong(t, "a control character in a comment");
	return 0;
}

static void put_utf8(struct bytes *out, unsigned c)
{
	unsigned char u[4];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = len; i-- > 1; c >>= 6)
		u[i] = (unsigned char)(0x80 | (c & 0x3f));
	u[0] = (unsigned char)(lead[len] | c);
	bytes_put(out, u, len);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int put_code_point(struct toml *t, unsigned digits, struct bytes *out)
{
	unsigned c = 0;

	for (; digits; digits--, t->pos++) {
		int v = hex_value(*t->pos);

		if (v < 0)
			return toml_wrong(t, "an escape without all its hex digits");
		c = c << 4 | (unsigned)v;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return toml_wrong(t, "an escape that is no Unicode scalar value");
	put_utf8(out, c);
	return 0;
}

/* A backslash before a line's end swallows it with all blanks and newlines after it. 1: it did. */
static int skip_line_end(struct toml *t)
{
	const char *p = t->pos;

	while (*p == ' ' || *p == '\t')
		p++;
	if (*p != '\n')
		return 0;
	while (*p == ' ' || *p == '\t' || *p == '\n')
		p++;
	t->pos = p;
	return 1;
}

/* What follows a backslash. */
static int put_escape(struct toml *t, bool is_long, struct bytes *out)
{
	static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	const char *found;

	if (is_long && skip_line_end(t))
		return 0;
	if (*t->pos == 'u' || *t->pos == 'U') {
		unsigned digits = *t->pos == 'u' ? 4 : 8;

		t->pos++;
		return put_code_point(t, digits, out);
	}
	found = *t->pos ? strchr(names, *t->pos) : NULL;
	if (!found)
		return toml_wrong(t, "an unknown escape in a string");
	bytes_put_u8(out, (uint8_t)values[found - names]);
	t->pos++;
	return 0;
}

/* The end of a long string: three quotes, before which two more may be its own. */
static bool ends_long(struct toml *t, char quote, struct bytes *out)
{
	size_t run = 0;

	while (t->pos[run] == quote)
		run++;
	if (run < 3)
		return false;
	for (size_t i = 3; i < run && i < 5; i++)
		bytes_put_u8(out, (uint8_t)quote);
	t->pos += run > 5 ? 5 : run;
	return true;
}

int toml_string(struct toml *t, bool may_be_long, struct bytes *out)
{
	char quote = *t->pos;
	bool is_long = may_be_long && t->pos[1] == quote && t->pos[2] == quote;

	t->pos += is_long ? 3 : 1;
	if (is_long && *t->pos == '\n')
		t->pos++;
	while (t->pos < t->end) {
		char c = *t->pos;

		if (c == quote && (!is_long || ends_long(t, quote, out))) {
			t->pos += !is_long;
			return 0;
		}
		if (is_control(c) && !(is_long && c == '\n'))
			return toml_wrong(t, c == '\n' ? "a string without an end"
						       : "a control character in a string");
		t->pos++;
		if (c == '\\' && quote == '"') {
			if (put_escape(t, is_long, out) < 0)
				return -1;
		} else {
			bytes_put_u8(out, (uint8_t)c);
		}
	}
	return toml_wrong(t, "a string without an end");
}

void toml_key_finish(struct toml_key *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->part[i]);
	k->count = 0;
}

static bool is_bare(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '-';
}

static int key_part(struct toml *t, struct toml_key *k)
{
	auto_bytes struct bytes text = {0};

	if (k->count == TOML_DEPTH_MAX)
		return toml_wrong(t, "a key of too many parts");
	if (*t->pos == '"' || *t->pos == '\'') {
		if (toml_string(t, false, &text) < 0)
			return -1;
		if (text.len && memchr(text.data, 0, text.len))
			return toml_wrong(t, "a NUL in a key");
	} else {
		while (is_bare(*t->pos))
			bytes_put_u8(&text, (uint8_t)*t->pos++);
		if (!text.len)
			return toml_wrong(t, "a key was expected");
	}
	k->part[k->count++] = mem_strndup(text.len ? (const char *)text.data : "", text.len);
	return 0;
}

int toml_key(struct toml *t, struct toml_key *ret)
{
	for (;;) {
		if (key_part(t, ret) < 0)
			return -1;
		toml_skip_blanks(t);
		if (*t->pos != '.')
			return 0;
		t->pos++;
		toml_skip_blanks(t);
	}
}
