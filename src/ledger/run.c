/* SPDX-License-Identifier: Apache-2.0 */
/* Our schema, and its runs: made, forked by reference, found with their lineage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "ledger/row.h"

/* Rows are never changed and never taken away; nothing but a mistake would try. */
#define KEEPS(table) \
	"CREATE TRIGGER " table "_stay BEFORE DELETE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'rows of a ledger stay'); END;" \
	"CREATE TRIGGER " table "_same BEFORE UPDATE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'rows of a ledger do not change'); END;"

static const char *const steps[] = {
	"CREATE TABLE runs (number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE,"
	" parent INTEGER REFERENCES runs (number), cut INTEGER NOT NULL, label TEXT, goal TEXT,"
	" created_at TEXT NOT NULL, crc INTEGER NOT NULL) STRICT;"
	"CREATE INDEX runs_parent ON runs (parent);"
	"CREATE TABLE events (run INTEGER NOT NULL, seq INTEGER NOT NULL, number INTEGER NOT NULL,"
	" id TEXT, type TEXT NOT NULL, actor TEXT, caused_by TEXT, time INTEGER NOT NULL,"
	" block INTEGER NOT NULL, payload TEXT NOT NULL, crc INTEGER NOT NULL,"
	" PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;"
	"CREATE UNIQUE INDEX events_id ON events (run, id) WHERE id IS NOT NULL;" //
	KEEPS("runs") KEEPS("events"),
	"CREATE TABLE snapshots (run INTEGER NOT NULL REFERENCES runs (number),"
	" seq INTEGER NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL,"
	" PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;",
};

const struct db_schema ledger_schema = {0x53474c31 /* "SGL1" */, steps, ARRAY_LEN(steps)};

static char *text_of(struct db_rows *r, int column)
{
	const char *text = db_text(r, column);

	return text ? mem_strdup(text) : NULL;
}

static int64_t crc_of(const struct ledger_run *r, int64_t parent)
{
	uint32_t crc = row_crc_number(0, (uint64_t)r->number);

	crc = row_crc_number(crc, (uint64_t)parent);
	crc = row_crc_number(crc, r->shared);
	crc = row_crc_text(crc, r->id, strlen(r->id));
	crc = row_crc_text(crc, r->label, r->label ? strlen(r->label) : 0);
	crc = row_crc_text(crc, r->goal, r->goal ? strlen(r->goal) : 0);
	return row_crc_text(crc, r->created, strlen(r->created));
}

#define COLUMNS \
	"SELECT r.number, r.run_id, r.parent, r.cut, r.label, r.goal, r.created_at, r.crc, " \
	"p.run_id, (SELECT max(seq) FROM events WHERE run = r.number) " \
	"FROM runs r LEFT JOIN runs p ON p.number = r.parent "

/* What a row of COLUMNS tells. */
static int fill(struct ledger *l, struct db_rows *r, struct ledger_run *ret, struct error *err)
{
	auto_ledger_run struct ledger_run run = {.number = db_int(r, 0),
		.id = text_of(r, 1),
		.shared = (uint64_t)db_int(r, 3),
		.label = text_of(r, 4),
		.goal = text_of(r, 5),
		.created = text_of(r, 6),
		.parent = text_of(r, 8)};
	int64_t parent = db_text(r, 2) ? db_int(r, 2) : 0;
	struct row_event at;

	if (!run.id || !run.created || crc_of(&run, parent) != db_int(r, 7) ||
		(parent && !run.parent))
		return error_set(err, ERR_FORMAT,
			"run %" PRId64 " is not as it was written: the ledger is damaged",
			run.number);
	run.last = db_text(r, 9) ? (uint64_t)db_int(r, 9) : run.shared;
	if (run.shared) {
		if (row_at(l, parent, run.shared, &at, err) < 0)
			return -1;
		run.at = mem_strdup(at.id);
	}
	*ret = run;
	run = (struct ledger_run){0};
	return 0;
}

static int find(struct ledger *l, const char *id, struct ledger_run *ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err, COLUMNS "WHERE r.run_id = ?", "t", id) < 0)
		return -1;
	got = db_next(r, err);
	return got <= 0 ? got : fill(l, r, ret, err) < 0 ? -1 : 1;
}

static int each(struct ledger *l, ledger_run_visitor *visit, void *context, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err, COLUMNS "ORDER BY r.number", "") < 0)
		return -1;
	while ((got = db_next(r, err)) > 0) {
		auto_ledger_run struct ledger_run run = {0};

		if (fill(l, r, &run, err) < 0 || visit(context, &run, err) < 0)
			return -1;
	}
	return got;
}

/* A row, and *ret_id, in a transaction that the caller commits. */
static int insert(struct ledger *l, struct ledger_run *run, int64_t parent, struct error *err)
{
	static const char sql[] = "INSERT INTO runs (number, run_id, parent, cut, label, goal, "
				  "created_at, crc) VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?)";
	char id[LEDGER_ULID], now[LEDGER_TIME_SIZE];
	int64_t last = 0;

	if (db_number(l->db, "SELECT coalesce(max(number), 0) FROM runs", &last, err) < 0)
		return -1;
	ledger_take_id(l, id);
	ledger_now(now);
	run->number = last + 1;
	run->id = mem_strdup(id);
	run->created = mem_strdup(now);
	if (fault_point("ledger: insert run") < 0)
		return error_sys(err, "make a run");
	return db_change(l->db, NULL, err, sql, "itiittti", run->number, run->id, parent,
		(int64_t)run->shared, run->label, run->goal, run->created, crc_of(run, parent));
}

static int run_new(struct ledger *l, const char *label, const char *goal, char ret_id[LEDGER_ULID],
	struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	auto_ledger_run struct ledger_run run = {
		.label = label ? mem_strdup(label) : NULL, .goal = goal ? mem_strdup(goal) : NULL};

	if (ledger_begin(l, &t, err) < 0 || insert(l, &run, 0, err) < 0 ||
		ledger_end(l, &t, err) < 0)
		return -1;
	memcpy(ret_id, run.id, LEDGER_ULID);
	return 0;
}

/* Where the parent may be cut: *ret_seq. */
static int find_cut(struct ledger *l, const struct ledger_run *parent, const char *at,
	uint64_t *ret_seq, struct error *err)
{
	struct row_event row = {0}, end;
	uint64_t seq = parent->last;
	int found = 1;

	if (at)
		found = event_find(l, parent, at, &seq, err);
	if (found < 0)
		return -1;
	if (found == 0)
		return error_set(err, ERR_MISSING, "no event '%.100s' in run %s", at, parent->id);
	*ret_seq = seq;
	if (seq == 0)
		return 0;
	if (row_at(l, parent->number, seq, &row, err) < 0)
		return -1;
	if (row.block == 0 || row.block == seq)
		return 0;
	if (row_at(l, parent->number, row.block, &end, err) < 0)
		return -1;
	return error_set(err, ERR_LIMIT,
		"a cut at %s would lie within an atomic block: cut at its last event, %s", row.id,
		end.id);
}

static int fork_run(struct ledger *l, const char *parent_id, const char *at, const char *label,
	char ret_id[LEDGER_ULID], struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	auto_ledger_run struct ledger_run parent = {0}, run = {0};

	if (ledger_begin(l, &t, err) < 0 || ledger_run_get(l, parent_id, &parent, err) < 0 ||
		find_cut(l, &parent, at, &run.shared, err) < 0)
		return -1;
	run.label = label ? mem_strdup(label) : NULL;
	run.goal = parent.goal ? mem_strdup(parent.goal) : NULL;
	if (insert(l, &run, parent.number, err) < 0)
		return -1;
	if (fault_point("ledger: commit fork") < 0)
		return error_sys(err, "fork the run");
	if (ledger_end(l, &t, err) < 0)
		return -1;
	memcpy(ret_id, run.id, LEDGER_ULID);
	return fault_point("ledger: forked") < 0 ? error_sys(err, "fork the run") : 0;
}

const struct ledger_ops ledger_ours = {
	.run_new = run_new,
	.run_find = find,
	.run_each = each,
	.fork = fork_run,
	.next = row_next,
	.event_find = event_find,
	.count = event_count,
	.head = row_head,
	.append = row_append,
	.verify = row_verify,
};
