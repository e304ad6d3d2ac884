/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sandglass session` share. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session/session.h"

enum { STATUS_NO = 1, STATUS_USAGE = 2, STATUS_CLOSED = 1 };

/* Says the error and gives the status that session verbs have for it: docs/man/sandglass-session.
 */
int cli_session_fail(const struct error *err);
/* Whether words has from `least` to `most` entries; else it says how the verb is used. */
bool cli_words_are(char **words, size_t least, size_t most, const char *usage);
/* Prints one value, as JSON {"key": value} when asked for. */
void cli_print_one(bool json, const char *key, const char *value);
/* A record as a JSON object for lists and `show`; the caller owns it. */
json_t *cli_session_json(const struct session_record *r);
/* The whole of a file, or of standard input for "-" (caller frees). */
int cli_read_input(const char *path, size_t max, char **ret, size_t *ret_len, struct error *err);

#endif
