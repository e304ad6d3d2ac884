/* SPDX-License-Identifier: Apache-2.0 */
/* The tape of a run that is being made: where it goes, its header, and how the run ended. */
#ifndef RUN_RECORDER_H
#define RUN_RECORDER_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "run/feed.h"
#include "run/inputs.h"
#include "run/journal.h"
#include "run/one.h"
#include "tape/tape.h"
#include "wire/contract.h"

enum { RECORDER_KEPT = 20 }; /* tapes that nobody asked for: the last so many stay */

struct recorder {
	const struct contract *contract; /* borrowed, as is inputs */
	const struct inputs *inputs;
	const char *path; /* where the user wants it; NULL: among the state, once something came */
	const char *substrate; /* who makes the container; NULL: we do */
	char *kept;	       /* where it went then; owned */
	struct tape_writer *writer;
	struct journal *journal; /* borrowed; NULL: it is a tape only */
	int fd;			 /* the file again, to be read for a second run; owned */
	bool is_partial; /* something is missing: it failed, or grew over what is kept unasked */
	uint64_t bytes;
};

void recorder_init(struct recorder *r, const struct contract *c, const struct inputs *in);
void recorder_finish(struct recorder *r);
/* Begins at once; before the run, so that a place where nothing can be written is an error. */
MUST_CHECK int recorder_begin(struct recorder *r, const char *path, struct error *err);
/* The same as a journal: only where nothing stands. */
MUST_CHECK int recorder_begin_journal(
	struct recorder *r, const char *path, struct journal *j, struct error *err);
/*
 * Goes on with a journal, whose last record may be torn. One that another process writes is
 * ERR_BUSY. Where the run ended by itself nothing is written any more (no writer).
 */
MUST_CHECK int recorder_continue(struct recorder *r, const char *path, struct journal *j,
	struct journal_past *ret, struct error *err);
/* A feed_record: arg is the recorder. */
feed_record recorder_input;
feed_record_sent recorder_sent;
/* The run is over: writes how it ended, and closes the tape. Nothing when there is none. */
MUST_CHECK int recorder_end(struct recorder *r, const struct one_result *one,
	const struct decisions *d, struct error *err);
/* What was recorded so far, to be read; of a run that read nothing, a tape without records. */
MUST_CHECK int recorder_reader(struct recorder *r, struct tape_reader **ret, struct error *err);
/* Where it is: for the report; NULL: nowhere. */
const char *recorder_path(const struct recorder *r);

/* How a run ended, for comparing: exit, digests of its output and decisions, programs. */
json_t *recorder_outcome(const struct one_result *one, const struct decisions *d);

#endif
