/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of our own schema: what is in them, what is checked when one is read. */
#ifndef LEDGER_ROW_H
#define LEDGER_ROW_H

#include "ledger/inside.h"

/* CRC-32C goes on over a number, or over a text with its length (NULL differs from ""). */
uint32_t row_crc_number(uint32_t before, uint64_t value);
uint32_t row_crc_text(uint32_t before, const char *text, size_t len);

/* What is asked of single rows. */
struct row_event {
	char id[LEDGER_ID_MAX + 1];
	uint64_t number, time_ns, block;
	bool is_counted; /* its id is that of its number */
};
/* The event of a seq in the history of a run; that there is none is ERR_FORMAT. */
MUST_CHECK int row_at(
	struct ledger *l, int64_t run, uint64_t seq, struct row_event *ret, struct error *err);
MUST_CHECK int event_find(struct ledger *l, const struct ledger_run *run, const char *id,
	uint64_t *ret_seq, struct error *err);
MUST_CHECK int event_count(struct ledger *l, const struct ledger_run *run, uint64_t from,
	const char *type, uint64_t *ret, struct error *err);

MUST_CHECK int row_next(struct ledger_cursor *c, struct ledger_event *ret, struct error *err);
MUST_CHECK int row_head(struct ledger_writer *w, struct error *err);
MUST_CHECK int row_append(
	struct ledger_writer *w, const struct ledger_new *e, uint64_t block, struct error *err);
MUST_CHECK int row_verify(struct ledger *l, struct ledger_faults *f, struct error *err);

#endif
