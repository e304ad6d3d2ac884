/* SPDX-License-Identifier: Apache-2.0 */
/* Small text helpers: see str.h. */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

enum { WORD_MAX = 63 };

char *str_format(const char *fmt, ...)
{
	char *out = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	out = mem_alloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(out, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return out;
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

char *str_printable(const char *data, size_t len, size_t max)
{
	struct bytes out = {0};

	for (size_t i = 0; i < len && i < max; i++) {
		unsigned char c = (unsigned char)data[i];
		char text[8];

		if (c == '\n')
			snprintf(text, sizeof(text), "\\n");
		else if (c == '\t')
			snprintf(text, sizeof(text), "\\t");
		else if (c == '\\')
			snprintf(text, sizeof(text), "\\\\");
		else if (c < ' ' || c > '~')
			snprintf(text, sizeof(text), "\\x%02x", c);
		else
			snprintf(text, sizeof(text), "%c", c);
		bytes_put(&out, text, strlen(text));
	}
	if (len > max)
		bytes_put(&out, "...", 3);
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

/* Bytes of the well-formed character at p (RFC 3629, table of section 4), or 0. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;

	if (n == 0 || n > left || p[0] == 0)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool str_is_utf8(const char *data, size_t len)
{
	const unsigned char *p = (const unsigned char *)data;

	for (size_t i = 0; i < len;) {
		size_t n = utf8_length(p + i, len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned str_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return la > lb ? (unsigned)la : (unsigned)lb;
	memset(rows, 0, sizeof(rows));
	for (unsigned j = 0; j <= lb; j++)
		last[j] = j;
	for (unsigned i = 1; i <= la; i++) {
		now[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			now[j] = min3(
				last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[lb];
}
