/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON lines, out and in: docs/format/ledger.md. */
#ifndef LEDGER_LINES_H
#define LEDGER_LINES_H

#include "base/bytes.h"
#include "ledger/ledger.h"

/* LEDGER_PAYLOAD_MAX, and room for the rest of its line. */
enum { LEDGER_LINE_MAX = LEDGER_PAYLOAD_MAX + 65536 };

/* One event as a JSON object, keys sorted, the payload as it is; without a newline. block is the id
 * of its block's last event, or NULL. */
void ledger_line_write(struct bytes *out, const struct ledger_event *e, const char *block);
/* The first line of an export: what the run is. */
void ledger_line_write_run(struct bytes *out, const struct ledger_run *r);

/* Writes the run, then every event of its history, to a descriptor. */
MUST_CHECK int ledger_export(struct ledger *l, const char *run, int fd, struct error *err);
/*
 * Makes a run of an export, in one transaction. Its id is new; label and goal are those of the
 * first line.
 */
MUST_CHECK int ledger_import(
	struct ledger *l, int fd, char ret_id[LEDGER_ULID], uint64_t *ret_count, struct error *err);

/*
 * Appends what a descriptor gives, `batch` lines a transaction: objects with type, payload, and
 * where wanted actor, caused_by, id, time. is_block: all of it is one block, and one transaction.
 */
MUST_CHECK int ledger_append_lines(struct ledger_writer *w, int fd, size_t batch, bool is_block,
	uint64_t *ret_count, struct error *err);

#endif
