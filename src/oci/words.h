/* SPDX-License-Identifier: Apache-2.0 */
/* A command line while it is put together: owned strings, NULL-terminated. */
#ifndef OCI_WORDS_H
#define OCI_WORDS_H

#include <stddef.h>

#include "base/attr.h"

struct words {
	char **items; /* NULL while there is none */
	size_t count;
};

void words_finish(struct words *w);
#define auto_words CLEANUP(words_finish)

void words_add(struct words *w, const char *word);
void words_format(struct words *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The parts of text between blanks. */
void words_split(struct words *w, const char *text);
/* A comma-separated record (RFC 4180): this text as one field of it. Caller frees. */
char *words_field(const char *text);
/* As one line that a POSIX shell reads back as the same words. Caller frees. */
char *words_quote(const struct words *w);

#endif
