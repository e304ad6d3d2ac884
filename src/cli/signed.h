/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing signed files for the commands that have them. */
#ifndef CLI_SIGNED_H
#define CLI_SIGNED_H

#include "attest/envelope.h"
#include "base/attr.h"
#include "base/error.h"

/* What a command line says of the key that is expected: --expected-keyid and --jwks. */
struct cli_anchor {
	const char *keyid, *jwks; /* jwks: a file */
};

/*
 * Opens a file from anybody: what is wrong with it goes into v. 0; -1 (ERR_MISSING) when there is
 * no such file, or the key set cannot be used. ret has no statement when there is none to go on
 * with.
 */
MUST_CHECK int cli_signed_read(const char *path, const struct cli_anchor *anchor,
	struct envelope *ret, struct verdict *v, struct error *err);
/* Signs and writes: the name is taken only when the file is whole. "-" is standard output. */
MUST_CHECK int cli_signed_write(
	const char *path, const struct key *k, const json_t *statement, struct error *err);
/* The verdict, as lines or as JSON with `more` (taken, may be NULL), and its exit status. */
int cli_verdict_tell(const struct verdict *v, const char *path, json_t *more, bool json);

#endif
