/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: runs as logs of events that only grow, in one SQLite file. A fork is a row that names
 * its parent and the last event the two share: nothing is copied, however long that prefix is. The
 * same functions read, fork and append to the store of an ActiveGraph program in its own schema,
 * where a fork copies rows as that program's does. docs/format/ledger.md has the tables.
 *
 * One logical writer a run: a writer remembers where its run ends, and what somebody else has
 * appended since makes its next append ERR_BUSY. Many readers, and writers of other runs, are fine.
 * A handle is not carried across fork(2).
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

enum {
	LEDGER_ULID = 27,		       /* 26 characters and a NUL */
	LEDGER_ID_MAX = 200,		       /* bytes of an id, a type, an actor */
	LEDGER_LABEL_MAX = 4096,	       /* bytes of a label, a goal */
	LEDGER_PAYLOAD_MAX = 16 * 1024 * 1024, /* bytes of one payload */
};

enum ledger_kind { LEDGER_OURS, LEDGER_ACTIVEGRAPH };
enum ledger_mode { LEDGER_EXISTING, LEDGER_MAKE };

struct ledger;

/*
 * ERR_MISSING: there is no such file (LEDGER_MAKE makes one, of our schema); ERR_FORMAT: neither
 * schema, or damaged; ERR_UNSUPPORTED: of a newer version; ERR_BUSY: another process has locked
 * it. wait_ms is how long others are waited for; 0 is 10 s.
 */
MUST_CHECK int ledger_open(const char *path, enum ledger_mode mode, unsigned wait_ms,
	struct ledger **ret, struct error *err);
void ledger_close(struct ledger *l);
void ledger_cleanup(struct ledger **l);
#define auto_ledger CLEANUP(ledger_cleanup)
enum ledger_kind ledger_kind(const struct ledger *l);

/*
 * Several changes as one: until ledger_commit nothing of them is on the disk for others, and the
 * cleaner takes them back. *ret is the ledger, borrowed.
 */
MUST_CHECK int ledger_hold(struct ledger *l, struct ledger **ret, struct error *err);
MUST_CHECK int ledger_commit(struct ledger **hold, struct error *err);
void ledger_release(struct ledger **hold);
#define auto_ledger_hold CLEANUP(ledger_release)

/* Runs. */

struct ledger_run {
	int64_t number; /* in the order of their making; the events' rows name it */
	char *id;
	char *parent;	 /* id, or NULL */
	char *at;	 /* id of the last event shared with it, inclusive; NULL: none */
	char *label;	 /* or NULL */
	char *goal;	 /* or NULL */
	char *created;	 /* YYYY-MM-DDTHH:MM:SSZ */
	uint64_t shared; /* seq of the last event of the prefix; 0: none */
	uint64_t last;	 /* seq of its last event, the prefix's among them; 0: none */
};
void ledger_run_finish(struct ledger_run *r);
#define auto_ledger_run CLEANUP(ledger_run_finish)

/* A new run without events. label and goal may be NULL; ret_id is a ULID. */
MUST_CHECK int ledger_run_new(struct ledger *l, const char *label, const char *goal,
	char ret_id[LEDGER_ULID], struct error *err);
/* 1 found, 0 there is none, -1. */
MUST_CHECK int ledger_run_find(
	struct ledger *l, const char *id, struct ledger_run *ret, struct error *err);
/* As that, but an unknown run is ERR_MISSING. */
MUST_CHECK int ledger_run_get(
	struct ledger *l, const char *id, struct ledger_run *ret, struct error *err);
/* All of them in the order of their making; what the visitor returns below 0 ends it. */
typedef int ledger_run_visitor(void *context, const struct ledger_run *r, struct error *err);
MUST_CHECK int ledger_run_each(
	struct ledger *l, ledger_run_visitor *visit, void *context, struct error *err);

/*
 * A fork of a run after one of its events, inclusive; at NULL is its last one. ERR_MISSING: no such
 * run or event. ERR_LIMIT: the cut would lie within an atomic block; the message names the block's
 * last event, which is a valid cut.
 */
MUST_CHECK int ledger_fork(struct ledger *l, const char *parent, const char *at, const char *label,
	char ret_id[LEDGER_ULID], struct error *err);

/*
 * The next run or fork that this handle makes has an id of these bytes instead of a fresh one:
 * whose making shall repeat derives it. A store that has the id already refuses.
 */
void ledger_choose_id(struct ledger *l, const unsigned char bytes[LEDGER_ULID - 1]);

/* Events. */

struct ledger_event {
	uint64_t seq; /* ascending within a run: the order. Ours: 1, 2, 3, ... */
	const char *id, *type;
	const char *actor, *caused_by; /* or NULL */
	const char *frame;	       /* ActiveGraph's frame_id, or NULL */
	const char *payload;	       /* the text of a JSON object, byte for byte as appended */
	size_t payload_len;
	uint64_t time_ns; /* logical; never less than that of the event before it */
	uint64_t block;	  /* seq of the last event of its atomic block; 0: in none */
};

/*
 * Events of a run in order, those of its prefix first. Their texts are valid until the next call.
 * from and to are seqs, both inclusive; 0 is no bound. Of the own ones: from = run.shared + 1.
 */
struct ledger_cursor;
MUST_CHECK int ledger_events(struct ledger *l, const char *run, uint64_t from, uint64_t to,
	struct ledger_cursor **ret, struct error *err);
/* 1, 0: no more, -1: ERR_FORMAT names the first event that is not as it was written. */
MUST_CHECK int ledger_next(struct ledger_cursor *c, struct ledger_event *ret, struct error *err);
void ledger_cursor_cleanup(struct ledger_cursor **c);
#define auto_ledger_cursor CLEANUP(ledger_cursor_cleanup)

/* The seq of an event by its id: 1, 0, -1. */
MUST_CHECK int ledger_event_find(
	struct ledger *l, const char *run, const char *id, uint64_t *ret_seq, struct error *err);
/* The seq of the last event that two runs have in common by lineage; 0: none. */
MUST_CHECK int ledger_common(
	struct ledger *l, const char *a, const char *b, uint64_t *ret_seq, struct error *err);
/* How many events of a type (NULL: of any) have from <= seq. */
MUST_CHECK int ledger_count(struct ledger *l, const char *run, uint64_t from, const char *type,
	uint64_t *ret, struct error *err);

/* An event to append. */
struct ledger_new {
	const char *type;
	const char *payload; /* a JSON object without duplicate keys; it is kept as it is */
	size_t payload_len;
	const char *actor, *caused_by; /* or NULL; caused_by is an id of the run's, not checked */
	const char *id;		       /* NULL: the next of evt_001, evt_002, ... */
	uint64_t time_ns;	       /* 0: that of the event before it */
	const char *frame;	       /* of an ActiveGraph store alone */
};

struct ledger_writer;
MUST_CHECK int ledger_writer_open(
	struct ledger *l, const char *run, struct ledger_writer **ret, struct error *err);
void ledger_writer_cleanup(struct ledger_writer **w);
#define auto_ledger_writer CLEANUP(ledger_writer_cleanup)
/*
 * Appends count events in one transaction: all of them are on the disk, or none is there. A block
 * may not be cut by a fork. ERR_BUSY: the run has grown since this writer saw it last.
 */
MUST_CHECK int ledger_append(struct ledger_writer *w, const struct ledger_new *events, size_t count,
	bool is_block, struct error *err);
/* Of the last event that this writer knows. */
uint64_t ledger_writer_seq(const struct ledger_writer *w);
const char *ledger_writer_id(const struct ledger_writer *w); /* "" when the run is empty */
/* The counter of ids: the next event that is given none is evt_%03d of one more. */
uint64_t ledger_writer_number(const struct ledger_writer *w);

/*
 * States: what a program made of a run's events up to one of them, so that loading can begin there.
 * Text, with its digest; the events stay. LEDGER_OURS alone can keep any.
 */
MUST_CHECK int ledger_state_put(struct ledger *l, const char *run, uint64_t seq, const char *text,
	size_t len, struct error *err);
/* The newest state of a run's history up to seq (caller frees the text): 1, 0, -1. */
MUST_CHECK int ledger_state_find(struct ledger *l, const char *run, uint64_t seq, char **ret_text,
	uint64_t *ret_seq, struct error *err);
/* What an ActiveGraph run begins with when it was compacted: the blob of its first event. */
MUST_CHECK int ledger_blob_find(
	struct ledger *l, const char *hash, char **ret_text, struct error *err);
/* What the log beside the file holds goes into the file. */
MUST_CHECK int ledger_checkpoint(struct ledger *l, struct error *err);

/* The whole store. */

/* A sentence about one thing that is wrong; run may be NULL. */
typedef void ledger_fault_visitor(void *context, const char *run, const char *fault);
/*
 * Every page, row and reference: how many faults there are in *ret. Only what cannot even be
 * looked at is -1. The visitor may be NULL.
 */
MUST_CHECK int ledger_verify(struct ledger *l, ledger_fault_visitor *visit, void *context,
	uint64_t *ret, struct error *err);

#endif
