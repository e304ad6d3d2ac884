/* SPDX-License-Identifier: Apache-2.0 */
/* A command line while it is put together: see words.h. */
#include "oci/words.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

void words_finish(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){0};
}

/* Takes word. */
static void add(struct words *w, char *word)
{
	w->items = mem_grow(w->items, w->count + 2, sizeof(*w->items));
	w->items[w->count++] = word;
	w->items[w->count] = NULL;
}

void words_add(struct words *w, const char *word)
{
	add(w, mem_strdup(word));
}

void words_format(struct words *w, const char *fmt, ...)
{
	char *word = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&word, fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	add(w, word);
}

void words_split(struct words *w, const char *text)
{
	while (*(text += strspn(text, " \t")) != '\0') {
		size_t len = strcspn(text, " \t");

		add(w, mem_strndup(text, len));
		text += len;
	}
}

static char *text_of(struct bytes *b)
{
	bytes_put_u8(b, 0);
	return mem_strdup((const char *)b->data);
}

char *words_field(const char *text)
{
	auto_bytes struct bytes b = {0};

	if (strpbrk(text, ",\"\n\r") == NULL)
		return mem_strdup(text);
	bytes_put_u8(&b, '"');
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '"')
			bytes_put_u8(&b, '"');
		bytes_put_u8(&b, (uint8_t)*p);
	}
	bytes_put_u8(&b, '"');
	return text_of(&b);
}

/* What no shell looks at. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	return *word != '\0' && word[strspn(word, plain)] == '\0';
}

char *words_quote(const struct words *w)
{
	auto_bytes struct bytes b = {0};

	for (size_t i = 0; i < w->count; i++) {
		const char *word = w->items[i];

		if (i > 0)
			bytes_put_u8(&b, ' ');
		if (is_plain(word)) {
			bytes_put(&b, word, strlen(word));
			continue;
		}
		bytes_put_u8(&b, '\'');
		for (; *word != '\0'; word++)
			if (*word == '\'')
				bytes_put(&b, "'\\''", 4);
			else
				bytes_put_u8(&b, (uint8_t)*word);
		bytes_put_u8(&b, '\'');
	}
	return text_of(&b);
}
