/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded runs of the sandbox as runs of a ledger: the tape's header is the first event
 * (tape.header), each record one more, so that record N is the event of seq N + 1. A fork of such a
 * run is a shorter tape, from which a run goes on. docs/format/ledger.md has the payloads.
 */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include "base/attr.h"
#include "base/error.h"
#include "ledger/ledger.h"

/*
 * Makes a run of a tape, in one transaction. What a journal says of output that went out is left
 * out. ERR_FORMAT: the tape was cut or damaged.
 */
MUST_CHECK int history_save(struct ledger *l, const char *tape, const char *label,
	char ret_id[LEDGER_ULID], struct error *err);
/*
 * Writes a run as the journal of one that was killed there (path: no such file yet, or an empty
 * one); *ret_records is how many records went into it. How it once ended is left out.
 * ERR_UNSUPPORTED: the run is none that history_save made, or a fork of one.
 */
MUST_CHECK int history_restore(struct ledger *l, const char *run, const char *path,
	uint64_t *ret_records, struct error *err);
/* Appends what the journal has behind its first records, in one transaction. */
MUST_CHECK int history_extend(struct ledger *l, const char *run, const char *path, uint64_t records,
	uint64_t *ret_appended, struct error *err);
/* The id of the event that is record `ordinal`, 0 being the header (caller frees). */
MUST_CHECK int history_event(
	struct ledger *l, const char *run, uint64_t ordinal, char **ret_id, struct error *err);

#endif
