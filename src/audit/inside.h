/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the handle, a line's text, the head file. */
#ifndef AUDIT_INSIDE_H
#define AUDIT_INSIDE_H

#include <stdbool.h>

#include "audit/audit.h"
#include "base/bytes.h"

enum { AUDIT_KEY_SIZE = 64 };

struct audit {
	int dir, lock; /* owned */
	enum audit_mode mode;
	char key[AUDIT_KEY_SIZE]; /* the hex digits themselves */
};

#define AUDIT_GENESIS "0000000000000000000000000000000000000000000000000000000000000000"

/* The key file's 64 digits; AUDIT_APPEND makes it when it is absent. */
MUST_CHECK int audit_key_read(
	const char *path, enum audit_mode mode, char ret[AUDIT_KEY_SIZE], struct error *err);

/*
 * A record's text without its "hmac" member, and where that belongs: what the HMAC covers after
 * prev_hmac, and what a line is made of.
 */
struct audit_text {
	struct bytes body;
	size_t cut;
};
void audit_text_finish(struct audit_text *t);
/* record: an object of the members that a line has, "hmac" or not. */
void audit_text_write(struct audit_text *t, const json_t *record);
void audit_text_hmac(
	const struct audit *a, const struct audit_text *t, const char *prev, char ret[DIGEST_HEX]);
/* Appends the whole line with its newline. */
void audit_text_line(const struct audit_text *t, const char *hmac, struct bytes *out);
/* NULL, or what a parsed line lacks to be a record. */
const char *audit_record_fault(const json_t *record);

/* "YYYY-MM-DD.jsonl" of an instant, and whether a name is of that form. */
void audit_file_name(uint64_t real_ns, char ret[AUDIT_FILE_SIZE]);
bool audit_is_file(const char *name);
/* The names of the chain's files in order. */
struct beneath_names;
MUST_CHECK int audit_files(const struct audit *a, struct beneath_names *ret, struct error *err);

/* 1; 0 when there is no head file; -1, ERR_TAMPERED when it is not what the key sealed. */
MUST_CHECK int audit_head_read(const struct audit *a, struct audit_head *ret, struct error *err);
MUST_CHECK int audit_head_write(
	const struct audit *a, const struct audit_head *h, struct error *err);

#endif
