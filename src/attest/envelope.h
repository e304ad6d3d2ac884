/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signed statement in a file: the one way in which anything of ours is signed and checked.
 * docs/format/receipt has the bytes.
 *
 * The file is one JSON object in the form of RFC 8785 and a newline: {"envelope", "format",
 * "statement"}. The Ed25519 signature is over the pre-authentication encoding of DSSE
 * (secure-systems-lab) of the statement's RFC 8785 text, so it stands apart from the envelope, and
 * no byte of the file can be changed without its being seen: another text of the same value is
 * refused too.
 */
#ifndef ATTEST_ENVELOPE_H
#define ATTEST_ENVELOPE_H

#include "attest/verdict.h"
#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/key.h"

enum { ENVELOPE_MAX = 16 << 20 }; /* bytes of a file */

#define ENVELOPE_FORMAT "sandglass.signed/1"
#define ENVELOPE_TYPE "application/vnd.sandglass.statement+json"

/*
 * The file's text (caller frees). The statement is an object with a member "format", whose integers
 * are within +-(2^53 - 1), as RFC 8785 wants them: else it is our own bug.
 */
MUST_CHECK int envelope_seal(
	const struct key *k, const json_t *statement, char **ret, struct error *err);

/* Which key is expected; with none of them nothing is anchored. */
struct envelope_anchor {
	const char *keyid;  /* RFC 7638 thumbprint, or the digest of the SubjectPublicKeyInfo */
	const json_t *jwks; /* a set from anybody */
};

struct envelope {
	json_t *statement; /* owned */
	char keyid[KEY_ID_SIZE];
	char digest[DIGEST_TEXT]; /* of the statement's text */
};
void envelope_finish(struct envelope *e);
#define auto_envelope CLEANUP(envelope_finish)

/*
 * Looks at text from anybody; what is wrong goes into v. True when there is a statement to go on
 * with, which proves nothing as long as v says `failed`.
 */
bool envelope_open(const char *text, size_t len, const struct envelope_anchor *anchor,
	struct envelope *ret, struct verdict *v);

/* Checks of statements: each member that there is, and of its type. */
struct statement_member {
	const char *name;
	json_type type;
	bool nullable;
};
/* True, or `malformed` is added, naming the member. rows ends with a NULL name. */
bool statement_check(
	const json_t *o, const char *what, const struct statement_member *rows, struct verdict *v);

#endif
