/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that sign, check and record share: where keys and the audit log are. */
#ifndef CLI_EVIDENCE_H
#define CLI_EVIDENCE_H

#include <stdbool.h>

#include "audit/audit.h"
#include "base/attr.h"
#include "base/error.h"
#include "crypto/key.h"

/* STATE/keys (caller frees). */
MUST_CHECK int cli_keys_dir(char **ret, struct error *err);
/*
 * The key to sign with: the file that SANDGLASS_KEY names, or the user's own. The passphrase of an
 * encrypted one is the first line of the file that SANDGLASS_KEY_PASSPHRASE_FILE names, or is asked
 * for on the terminal.
 */
MUST_CHECK int cli_signing_key(struct key **ret, struct error *err);
/* A new passphrase: of a file, or twice from the terminal (caller frees). */
MUST_CHECK int cli_new_passphrase(const char *file, char **ret, struct error *err);

/* The audit log: dir and key NULL for the user's own (SANDGLASS_AUDIT_KEY, STATE/audit.key). */
MUST_CHECK int cli_audit_open(const char *dir, const char *key, enum audit_mode mode,
	struct audit **ret, struct error *err);
/* One event of our own in the user's log. Takes details. */
MUST_CHECK int cli_audit_record(const char *type, const char *resource_type,
	const char *resource_id, json_t *details, struct error *err);

#endif
