/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: a ledger is a database and the functions of its schema. */
#ifndef LEDGER_INSIDE_H
#define LEDGER_INSIDE_H

#include "ledger/ledger.h"
#include "store/db.h"

enum { LEDGER_ID_SIZE = 32, LEDGER_TIME_SIZE = 32, LEDGER_NUMBER_MAX = 999999999999999999 };

struct ledger_faults {
	ledger_fault_visitor *visit;
	void *context;
	uint64_t count;
};
void ledger_fault(struct ledger_faults *f, const char *run, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* What SQLite itself finds. */
MUST_CHECK int ledger_verify_pages(struct ledger *l, struct ledger_faults *f, struct error *err);

/* What a schema does its own way; each as the public function of its name. */
struct ledger_ops {
	int (*run_new)(struct ledger *l, const char *label, const char *goal,
		char ret_id[LEDGER_ULID], struct error *err);
	int (*run_find)(
		struct ledger *l, const char *id, struct ledger_run *ret, struct error *err);
	int (*run_each)(
		struct ledger *l, ledger_run_visitor *visit, void *context, struct error *err);
	int (*fork)(struct ledger *l, const char *parent, const char *at, const char *label,
		char ret_id[LEDGER_ULID], struct error *err);
	int (*next)(struct ledger_cursor *c, struct ledger_event *ret, struct error *err);
	int (*event_find)(struct ledger *l, const struct ledger_run *run, const char *id,
		uint64_t *ret_seq, struct error *err);
	int (*count)(struct ledger *l, const struct ledger_run *run, uint64_t from,
		const char *type, uint64_t *ret, struct error *err);
	/* Where the run ends: its seq, id, time and counter of ids. */
	int (*head)(struct ledger_writer *w, struct error *err);
	/* Within a transaction; moves the writer's head on. */
	int (*append)(struct ledger_writer *w, const struct ledger_new *e, uint64_t block,
		struct error *err);
	int (*verify)(struct ledger *l, struct ledger_faults *f, struct error *err);
};
extern const struct ledger_ops ledger_ours, ledger_activegraph;
extern const struct db_schema ledger_schema;

struct ledger {
	struct db *db;
	const struct ledger_ops *ops;
	char next_id[LEDGER_ULID]; /* of the next run; "": a fresh one */
	struct db_transaction held;
};
/* The id of a run that is made now. */
void ledger_take_id(struct ledger *l, char ret[LEDGER_ULID]);

/* A transaction, or a part of the one that is held. */
MUST_CHECK int ledger_begin(struct ledger *l, struct db_transaction *ret, struct error *err);
MUST_CHECK int ledger_end(struct ledger *l, struct db_transaction *t, struct error *err);

/* A part of a run's history: events of one run's own rows. */
struct ledger_segment {
	int64_t run;
	uint64_t first, last; /* seqs; empty when first > last */
};

/* The segments of a run up to a seq, oldest first (caller frees). */
MUST_CHECK int ledger_segments(struct ledger *l, int64_t run, uint64_t to,
	struct ledger_segment **ret, size_t *ret_count, struct error *err);

struct ledger_cursor {
	struct ledger *ledger;
	char *run;
	uint64_t from, to;
	struct ledger_segment *segments;
	size_t count, at;
	struct db_rows *rows;
	char id[LEDGER_ID_SIZE];
};

struct ledger_writer {
	struct ledger *ledger;
	struct ledger_run run;
	uint64_t seq, number, time_ns;
	char *id; /* heap, "" at first */
};
/* Moves the head. */
void ledger_writer_move(
	struct ledger_writer *w, uint64_t seq, uint64_t number, uint64_t time_ns, const char *id);

/* Whether an event may be appended at all; what it follows is not looked at. */
MUST_CHECK int ledger_check_new(const struct ledger_new *e, struct error *err);

void ledger_ulid(char ret[LEDGER_ULID]);
/* Now, as YYYY-MM-DDTHH:MM:SSZ. */
void ledger_now(char ret[LEDGER_TIME_SIZE]);
/* evt_%03d */
void ledger_id_format(char ret[LEDGER_ID_SIZE], uint64_t number);
/* Whether an id is exactly what ledger_id_format gives for a number. */
bool ledger_id_is_counted(const char *id, uint64_t *ret_number);

#endif
