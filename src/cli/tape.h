/* SPDX-License-Identifier: Apache-2.0 */
/* What the tape commands share: opening one, and a record as a line or as JSON. */
#ifndef CLI_TAPE_H
#define CLI_TAPE_H

#include "base/error.h"
#include "codec/json.h"
#include "tape/tape.h"

/* Opens the only word of the command line, and reads its header (the caller owns it). */
MUST_CHECK int cli_tape_open(
	char **words, struct tape_reader **ret, json_t **ret_header, struct error *err);
/* One line without its end (caller frees). */
char *cli_tape_line(const struct tape_record *record);
/* The caller owns the value. */
json_t *cli_tape_json(const struct tape_record *record);
/* The command that was recorded, as text (caller frees). */
char *cli_tape_command(const json_t *header);

#endif
