/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that use the store of content share. */
#ifndef CLI_STORE_H
#define CLI_STORE_H

#include "base/attr.h"
#include "base/error.h"
#include "cas/cas.h"

/* The store in dir, NULL for the user's own. */
MUST_CHECK int cli_store_open(
	const char *dir, enum cas_mode mode, struct cas **ret, struct error *err);
/* A digest, or the name of a root. */
MUST_CHECK int cli_store_find(
	struct cas *c, const char *word, char ret[DIGEST_TEXT], struct error *err);
/* Bytes done so far, on a terminal's standard error alone; `what` is borrowed. */
struct cas_progress cli_progress(const char *what);
/* Clears the line that a progress has left. */
void cli_progress_end(void);
/* A value as a line on standard output. Takes it. */
void cli_print_json(json_t *value);

#endif
