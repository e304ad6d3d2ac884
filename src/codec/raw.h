/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text read in place: checked once, then walked without a copy, so that numbers stay the text
 * they were (fractions among them) and a large log is looked at quickly. The walkers never leave
 * the text they are given, checked or not; of text that was not checked they may tell nonsense.
 */
#ifndef CODEC_RAW_H
#define CODEC_RAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

/* A value's text, borrowed, without white space around it. */
struct raw {
	const char *text;
	size_t len;
};

enum raw_rules {
	RAW_STRICT, /* RFC 8259, UTF-8, no duplicate keys */
	RAW_PYTHON, /* what Python's json writes and reads: NaN, Infinity and duplicates too */
};

/* One value of at most 64 levels, and nothing after it; else ERR_FORMAT with the byte. */
MUST_CHECK int raw_check(
	const char *text, size_t len, enum raw_rules rules, struct raw *ret, struct error *err);

/* The first character of a value tells its kind: { [ " t f n, else a number. 0: no value. */
char raw_kind(struct raw value);

/* The members of an object or the items of an array, in the order of the text. */
struct raw_walk {
	const char *pos, *end;
	bool is_object;
};
struct raw_walk raw_walk(struct raw container);
/* ret_key (with its quotes; NULL text in an array) may be NULL. */
bool raw_next(struct raw_walk *w, struct raw *ret_key, struct raw *ret_value);

/* The last member of this name; a name is plain ASCII. False when there is none, or no object. */
bool raw_find(struct raw object, const char *name, struct raw *ret);
/* Whether a string is exactly this word. */
bool raw_is(struct raw string, const char *word);
/* A string's characters with a NUL after them (caller frees); NULL when it is no string, or holds a
 * NUL. Half of a surrogate pair becomes U+FFFD. */
char *raw_string(struct raw string);
/* A member's string as raw_string gives it, or NULL. */
char *raw_find_string(struct raw object, const char *name);
/* The same keys' order and spacing for equal values: keys sorted by their bytes, no white space;
 * strings and numbers as they are written. */
void raw_sorted(struct bytes *out, struct raw value);

#endif
