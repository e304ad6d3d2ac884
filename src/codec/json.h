/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical JSON on jansson, in the three forms that our formats use: one value has one text. No
 * floats in any of them. Readers are bounded in size and depth and refuse duplicate keys.
 */
#ifndef CODEC_JSON_H
#define CODEC_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

void json_cleanup(json_t **value);
#define auto_json CLEANUP(json_cleanup)

enum json_form {
	/* Python's json.dumps(value, sort_keys=True, separators=(",", ":")): pure ASCII. */
	JSON_PLAIN,
	/* json.dumps(value, sort_keys=True): the same with ", " and ": ". */
	JSON_SPACED,
	/*
	 * RFC 8785 (JCS): UTF-8 as it is, keys in the order of their UTF-16 code units, the
	 * shortest escapes.
	 */
	JSON_JCS,
	JSON_FORMS
};

/* Appends the bytes of a form, without a newline. A real number in value is our own bug: it aborts.
 */
void json_write_as(struct bytes *out, const json_t *value, enum json_form form);
/* As JSON_PLAIN. */
void json_write(struct bytes *out, const json_t *value);
/* The same as a heap string (caller frees). */
char *json_text(const json_t *value);

/*
 * Bytes as JSON: a string when they are UTF-8 without NUL, else {"hex": "..."}. Takes nothing; the
 * caller owns the new value.
 */
json_t *json_bytes(const char *data, size_t len);
json_t *json_str(const char *s);
/* An unsigned number; past 2^63 - 1 it is null ("unlimited"). */
json_t *json_u64(uint64_t v);
/* json_object_set_new that aborts instead of failing. Takes value. */
void json_put(json_t *object, const char *key, json_t *value);
void json_add(json_t *array, json_t *value);

/* Text of at most max bytes, one value, at most 64 levels; a float is ERR_FORMAT. Caller owns *ret.
 */
MUST_CHECK int json_read(const char *text, size_t len, size_t max, json_t **ret, struct error *err);
/*
 * The same of a format of others, in which numbers may have fractions: those are real numbers, and
 * with all_real every number is. One that no finite double is near (1e999) is ERR_FORMAT.
 */
MUST_CHECK int json_read_numbers(
	const char *text, size_t len, size_t max, bool all_real, json_t **ret, struct error *err);

#endif
