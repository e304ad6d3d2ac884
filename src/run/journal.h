/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal: the tape of a run that also says what has gone out, so that a run that was killed can
 * be made again up to where it died, without saying anything twice.
 *
 * How it works. Before bytes of standard output or error go out, a record says which and where to,
 * and the file is put onto the disk: with it everything that came in before and made them. A second
 * record says that the write begins, a third that it is done; those reach the kernel only, so that
 * a death of ours loses none. A resumed run drops as many bytes as went out. Where the records
 * leave open whether a write was made, the size of a regular file tells; of anything else nothing
 * does, and then it counts as made.
 */
#ifndef RUN_JOURNAL_H
#define RUN_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/feed.h"
#include "tape/tape.h"

enum { JOURNAL_STREAMS = 3, JOURNAL_PLAN_MAX = 1024 * 1024 };

/* What of one stream is known to have gone out. */
struct journal_done {
	uint64_t bytes;
	uint32_t sum;		  /* CRC-32C of the first `sum_at` of them */
	uint64_t sum_at, ordinal; /* and the record that says so */
};

struct journal {
	struct tape_writer *writer; /* borrowed; NULL: nothing goes out */
	const struct feed *feed;    /* borrowed: which questions were answered; NULL: none can be */
	struct journal_done done[JOURNAL_STREAMS];
	struct journal_done past[JOURNAL_STREAMS]; /* of a resumed run: what is not said again */
	struct feed_divergence divergence;	   /* what it says is not what it said */
	uint64_t unsynced_ns; /* the host's time of the first record that may not be on the disk; 0
			       */
};

/* These len bytes of a stream go out next, to this descriptor. On the disk when this returns. */
MUST_CHECK int journal_plan(struct journal *j, unsigned stream, int to, const void *data,
	size_t len, struct error *err);
/* This part of what was planned is written now, and was written. */
MUST_CHECK int journal_begin(
	struct journal *j, unsigned stream, const void *data, size_t len, struct error *err);
MUST_CHECK int journal_end(
	struct journal *j, unsigned stream, const void *data, size_t len, struct error *err);
/* The guest said this: how much of it has gone out before? Fills the divergence. */
size_t journal_drop(struct journal *j, unsigned stream, const void *data, size_t len);
/* The run has ended by itself: did it say all that has gone out? Fills the divergence. */
void journal_check_end(struct journal *j);
/* A record came that can wait for the disk. */
void journal_touch(struct journal *j);
/* The host's time by which journal_commit is to be called; 0: none. */
uint64_t journal_deadline_ns(const struct journal *j);
/* Puts what has waited long enough onto the disk. */
MUST_CHECK int journal_commit(struct journal *j, struct error *err);

/* What the records of a journal say. */
struct journal_past {
	struct journal_done done[JOURNAL_STREAMS];
	struct {
		bool is_planned, has_begun;
		uint64_t at; /* bytes done when it was planned */
		uint64_t position, device, inode;
		uint64_t planned, begun; /* bytes */
	} open[JOURNAL_STREAMS];
	uint64_t request; /* questions up to this one were answered */
	uint64_t input_bytes;
	uint64_t doubtful[JOURNAL_STREAMS]; /* bytes that count as out without being known to be */
};

void journal_past_take(struct journal_past *p, const struct tape_record *record);
/* Looks at where the streams lead now, before anything is written there. */
void journal_past_resolve(struct journal_past *p);

#endif
