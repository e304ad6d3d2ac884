/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit chain: what was done, in JSON lines, each bound to the one before it by HMAC-SHA256.
 * docs/format/audit has the bytes.
 *
 * How it works. A directory holds a file a day (UTC), in the order of whose names the chain runs;
 * `lock`, held for an append and no longer, by every process alike; and `head`, which says how far
 * the chain goes, sealed with the same key, so that a tail that was cut off or a file that was
 * removed shows. An append reads the tail under the lock, writes one line, syncs it, and moves the
 * head. A line that a killed writer left half written was never acknowledged: the next append takes
 * it away, and records that.
 *
 * What it proves: nobody without the key changed, removed, added or reordered anything up to the
 * head. Whoever can put back an older directory as a whole is found out only by a seal
 * (audit_head), kept elsewhere.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/digest.h"

enum {
	AUDIT_LINE_MAX = 1 << 20, /* bytes of a line with its newline */
	AUDIT_FILE_SIZE = 17,	  /* "YYYY-MM-DD.jsonl" and a NUL */
};

struct audit;

enum audit_mode {
	AUDIT_READ,   /* changes nothing; directory and key have to be there */
	AUDIT_APPEND, /* makes both where they are not */
};
/*
 * key: a file of 64 hex digits that are the key as they stand, mode 0600 (key_file_open's rule), in
 * a directory of mode 0700 when it is made here. Reading never makes a key: a new one could only
 * call every line forged.
 */
MUST_CHECK int audit_open(const char *dir, const char *key, enum audit_mode mode,
	struct audit **ret, struct error *err);
/*
 * The user's own: STATE/audit with the key that SANDGLASS_AUDIT_KEY names or STATE/audit.key; dir
 * and key, where they are not NULL, instead.
 */
MUST_CHECK int audit_open_state(const char *state, const char *dir, const char *key,
	enum audit_mode mode, struct audit **ret, struct error *err);
void audit_close(struct audit *a);
void audit_cleanup(struct audit **a);
#define auto_audit CLEANUP(audit_cleanup)

struct audit_event {
	const char *type;
	const char *actor; /* NULL: "uid:N", the user */
	const char *resource_type, *resource_id;
	const json_t *details; /* an object, borrowed; NULL: empty */
	uint64_t real_ns;      /* 0: now */
};
/* Durable when it returns; ret_hmac (may be NULL) gets the new end of the chain. */
MUST_CHECK int audit_append(
	struct audit *a, const struct audit_event *e, char ret_hmac[DIGEST_HEX], struct error *err);

/* How far a chain goes. */
struct audit_head {
	uint64_t count;		    /* lines in all */
	uint64_t size;		    /* bytes of the last file */
	char file[AUDIT_FILE_SIZE]; /* the last one; "" when the chain is empty */
	char hmac[DIGEST_HEX];	    /* of the last line; 64 zeros when the chain is empty */
};
/* As the head file has it, the seal checked. 1; 0: there is no chain yet; -1. */
MUST_CHECK int audit_head_find(struct audit *a, struct audit_head *ret, struct error *err);

struct audit_fault {
	const char *code; /* a stable word: docs/format/audit lists them */
	const char *file; /* or NULL: the chain as a whole */
	uint64_t line;	  /* from 1; 0: the file as a whole */
	uint64_t byte;	  /* offset in the file of the first bad byte */
	const char *detail;
};
struct audit_walk {
	/* Called for what is wrong, and (may be NULL) for each line that could be read. */
	int (*fault)(void *context, const struct audit_fault *f, struct error *err);
	int (*record)(void *context, const char *file, uint64_t line, const json_t *record,
		struct error *err);
	void *context;
	/* Sealed elsewhere and earlier, or NULL: the chain has to lead through it. */
	const struct audit_head *seal;
	uint64_t files, lines, faults; /* out */
	struct audit_head end;	       /* out: where the chain was found to end */
};
/* Reads all of it in memory that does not grow, and goes on behind every fault. */
MUST_CHECK int audit_walk(struct audit *a, struct audit_walk *w, struct error *err);

#endif
