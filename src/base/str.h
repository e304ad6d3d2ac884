/* SPDX-License-Identifier: Apache-2.0 */
/* Small text helpers: formatted heap strings, printable forms of foreign bytes, near misses. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* A formatted heap string (caller frees). */
char *str_format(const char *fmt, ...) PRINTF_LIKE(1, 2);
bool str_has_prefix(const char *s, const char *prefix);
/*
 * Bytes from elsewhere made safe for a terminal: everything but printable ASCII becomes \n, \t or
 * \xNN, a backslash is doubled, and past max bytes of input it ends in "...". Caller frees.
 */
char *str_printable(const char *data, size_t len, size_t max);
/* True when the bytes are well-formed UTF-8 (no surrogates, no overlong forms, no NUL). */
bool str_is_utf8(const char *data, size_t len);
/* Edits (insert, delete, replace, swap neighbours) between two words; words over 63 bytes are far.
 */
unsigned str_distance(const char *a, const char *b);

#endif
