/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the TOML reader share: the cursor and the scanners of its tokens. */
#ifndef PACK_TOML_INSIDE_H
#define PACK_TOML_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "codec/json.h"
#include "pack/toml.h"

/* The text ends in a NUL that belongs to none of its characters. */
struct toml {
	const char *start, *pos, *end;
	struct error *err;
};

/* Always -1: says what is wrong at this line. */
int toml_wrong(const struct toml *t, const char *what);

/* Spaces and tabs. */
void toml_skip_blanks(struct toml *t);
/* A comment, when one stands here; up to its newline. */
MUST_CHECK int toml_skip_comment(struct toml *t);
/* A string of any of the four kinds, or of the first two alone, into out (without a NUL). */
MUST_CHECK int toml_string(struct toml *t, bool may_be_long, struct bytes *out);

/* A key: its parts, one to TOML_DEPTH_MAX. */
struct toml_key {
	char *part[TOML_DEPTH_MAX];
	size_t count;
};
void toml_key_finish(struct toml_key *k);
#define auto_toml_key CLEANUP(toml_key_finish)
MUST_CHECK int toml_key(struct toml *t, struct toml_key *ret);

/* A number, date or time. 1; 0: none stands here; -1. The caller owns *ret. */
MUST_CHECK int toml_number(struct toml *t, json_t **ret);

/* The table of this path below `at`, made with all above it; of an array of tables its last. NULL:
 * something else stands there. Borrowed. */
json_t *toml_nest(json_t *at, char *const *path, size_t count, bool through_arrays);

/*
 * What is closed: a path can be frozen with all below it (an array, an inline table), or have had
 * its header. One tree of these marks a text, and one an inline table.
 */
enum toml_mark { TOML_HEADED = 1, TOML_FROZEN = 2 };
bool toml_is_marked(const json_t *marks, char *const *path, size_t count, enum toml_mark mark);
void toml_mark(json_t *marks, char *const *path, size_t count, enum toml_mark mark);
void toml_unmark_all(json_t *marks, char *const *path, size_t count);

/* Any value; depth counts what it is in. The caller owns *ret. */
MUST_CHECK int toml_value(struct toml *t, unsigned depth, json_t **ret);

#endif
