/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of an ActiveGraph program (schema version 1), read, forked and appended to in its own
 * terms: a fork copies rows, seq is the file's and the only order, ids continue the run's counter.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "codec/raw.h"
#include "crypto/digest.h"
#include "ledger/inside.h"

static char *text_of(struct db_rows *r, int column)
{
	const char *text = db_text(r, column);

	return text ? mem_strdup(text) : NULL;
}

/* 1 and the number of a query's first row, 0: no row, or NULL. */
static int number_of(struct db_rows *r, uint64_t *ret, struct error *err)
{
	int got = db_next(r, err);

	if (got <= 0 || !db_text(r, 0))
		return got < 0 ? -1 : 0;
	*ret = (uint64_t)db_int(r, 0);
	return 1;
}

static int find_seq(
	struct ledger *l, const char *run, const char *id, uint64_t *ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;

	if (db_query(l->db, &r, err, "SELECT seq FROM events WHERE id = ? AND run_id = ?", "tt", id,
		    run) < 0)
		return -1;
	return number_of(r, ret, err);
}

#define RUN_COLUMNS \
	"SELECT rowid, run_id, parent_run_id, forked_at_event_id, label, goal, created_at, " \
	"(SELECT max(seq) FROM events e WHERE e.run_id = r.run_id) FROM runs r "

static int fill_run(struct ledger *l, struct db_rows *r, struct ledger_run *ret, struct error *err)
{
	auto_ledger_run struct ledger_run run = {.number = db_int(r, 0),
		.id = text_of(r, 1),
		.parent = text_of(r, 2),
		.at = text_of(r, 3),
		.label = text_of(r, 4),
		.goal = text_of(r, 5),
		.created = text_of(r, 6),
		.last = (uint64_t)db_int(r, 7)};

	if (!run.id || !run.created)
		return error_set(err, ERR_FORMAT, "a row of runs without its id or its time");
	if (run.at && find_seq(l, run.id, run.at, &run.shared, err) < 0)
		return -1;
	*ret = run;
	run = (struct ledger_run){0};
	return 0;
}

static int run_find(struct ledger *l, const char *id, struct ledger_run *ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err, RUN_COLUMNS "WHERE run_id = ?", "t", id) < 0)
		return -1;
	got = db_next(r, err);
	return got <= 0 ? got : fill_run(l, r, ret, err) < 0 ? -1 : 1;
}

static int run_each(struct ledger *l, ledger_run_visitor *visit, void *context, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err, RUN_COLUMNS "ORDER BY rowid", "") < 0)
		return -1;
	while ((got = db_next(r, err)) > 0) {
		auto_ledger_run struct ledger_run run = {0};

		if (fill_run(l, r, &run, err) < 0 || visit(context, &run, err) < 0)
			return -1;
	}
	return got;
}

static int run_new(struct ledger *l, const char *label, const char *goal, char ret_id[LEDGER_ULID],
	struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	char now[LEDGER_TIME_SIZE];

	ledger_take_id(l, ret_id);
	ledger_now(now);
	if (ledger_begin(l, &t, err) < 0 ||
		db_change(l->db, NULL, err,
			"INSERT INTO runs (run_id, label, created_at, goal) VALUES (?, ?, ?, ?)",
			"tttt", ret_id, label, now, goal) < 0)
		return -1;
	return ledger_end(l, &t, err);
}

/* Forks. */

static int missing_event(struct ledger *l, const char *run, const char *at, struct error *err)
{
	int64_t tables = 0;
	uint64_t seq;

	if (db_number(l->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'events_archive'",
		    &tables, err) < 0)
		return -1;
	if (tables) {
		auto_rows struct db_rows *r = NULL;
		int got;

		if (db_query(l->db, &r, err,
			    "SELECT 1 FROM events_archive WHERE id = ? AND run_id = ?", "tt", at,
			    run) < 0)
			return -1;
		got = number_of(r, &seq, err);
		if (got < 0)
			return -1;
		if (got > 0)
			return error_set(err, ERR_MISSING,
				"event '%.100s' of run %.100s is archived below the compaction "
				"horizon",
				at, run);
	}
	return error_set(err, ERR_MISSING, "no event '%.100s' in run %.100s", at, run);
}

/* A promote is one change: its marker and the deltas that it caused are not to be parted. */
static int guard_cut(
	struct ledger *l, const char *run, const char *at, uint64_t cut, struct error *err)
{
	static const char sql[] =
		"SELECT d.id FROM events d JOIN events m ON m.run_id = d.run_id AND m.id = "
		"d.caused_by WHERE d.run_id = ? AND d.actor LIKE 'promote:%' AND d.seq > ? AND "
		"m.type = 'promote.applied' AND m.seq <= ? ORDER BY d.seq DESC LIMIT 1";
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err, sql, "tii", run, (int64_t)cut, (int64_t)cut) < 0)
		return -1;
	got = db_next(r, err);
	if (got <= 0)
		return got;
	return error_set(err, ERR_LIMIT,
		"a cut at %.100s would lie within a promote: cut at its last event, %.100s", at,
		db_text(r, 0));
}

static int copy_prefix(struct ledger *l, const struct ledger_run *parent, const char *at,
	uint64_t cut, const char *id, const char *label, struct error *err)
{
	char now[LEDGER_TIME_SIZE];
	int changed = 0;

	ledger_now(now);
	if (fault_point("ledger: insert run") < 0)
		return error_sys(err, "fork the run");
	if (db_change(l->db, &changed, err,
		    "INSERT INTO runs (run_id, parent_run_id, forked_at_event_id, label, "
		    "created_at, goal, frame_id) SELECT ?, ?, ?, ?, ?, goal, frame_id FROM runs "
		    "WHERE run_id = ?",
		    "tttttt", id, parent->id, at, label, now, parent->id) < 0)
		return -1;
	if (changed != 1)
		return error_set(err, ERR_MISSING, "no run '%.100s'", parent->id);
	if (fault_point("ledger: copy prefix") < 0)
		return error_sys(err, "fork the run");
	return db_change(l->db, NULL, err,
		"INSERT INTO events (id, type, actor, payload, frame_id, caused_by, timestamp, "
		"run_id) SELECT id, type, actor, payload, frame_id, caused_by, timestamp, ? FROM "
		"events WHERE run_id = ? AND seq <= ? ORDER BY seq",
		"tti", id, parent->id, (int64_t)cut);
}

/* The id of a run's last event (caller frees), NULL when there is none. */
static int last_id(struct ledger *l, const char *run, char **ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	if (db_query(l->db, &r, err,
		    "SELECT id FROM events WHERE run_id = ? ORDER BY seq DESC LIMIT 1", "t",
		    run) < 0)
		return -1;
	got = db_next(r, err);
	if (got < 0)
		return -1;
	*ret = got > 0 ? text_of(r, 0) : NULL;
	return 0;
}

static int fork_run(struct ledger *l, const char *parent_id, const char *at, const char *label,
	char ret_id[LEDGER_ULID], struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	auto_ledger_run struct ledger_run parent = {0};
	autofree char *last = NULL;
	char id[LEDGER_ULID];
	uint64_t cut = 0;
	int found = 1;

	ledger_take_id(l, id);
	if (ledger_begin(l, &t, err) < 0 || ledger_run_get(l, parent_id, &parent, err) < 0)
		return -1;
	if (!at && last_id(l, parent.id, &last, err) < 0)
		return -1;
	at = at ? at : last;
	if (at)
		found = find_seq(l, parent.id, at, &cut, err);
	if (found <= 0)
		return found < 0 ? -1 : missing_event(l, parent.id, at, err);
	if ((at && guard_cut(l, parent.id, at, cut, err) < 0) ||
		copy_prefix(l, &parent, at, cut, id, label, err) < 0)
		return -1;
	if (fault_point("ledger: commit fork") < 0)
		return error_sys(err, "fork the run");
	if (ledger_end(l, &t, err) < 0)
		return -1;
	memcpy(ret_id, id, LEDGER_ULID);
	return fault_point("ledger: forked") < 0 ? error_sys(err, "fork the run") : 0;
}

/* Events. */

static int next(struct ledger_cursor *c, struct ledger_event *ret, struct error *err)
{
	static const char sql[] =
		"SELECT seq, id, type, actor, caused_by, frame_id, timestamp, payload FROM events "
		"WHERE run_id = ? AND seq BETWEEN ? AND ? ORDER BY seq";
	struct ledger_event e = {0};
	struct raw payload;
	int got;

	if (!c->rows && db_query(c->ledger->db, &c->rows, err, sql, "tii", c->run, (int64_t)c->from,
				(int64_t)c->to) < 0)
		return -1;
	got = db_next(c->rows, err);
	if (got <= 0)
		return got;
	e.seq = (uint64_t)db_int(c->rows, 0);
	e.id = db_text(c->rows, 1);
	e.type = db_text(c->rows, 2);
	e.actor = db_text(c->rows, 3);
	e.caused_by = db_text(c->rows, 4);
	e.frame = db_text(c->rows, 5);
	/* For people; the order is seq's alone. */
	if (!db_text(c->rows, 6) || num_parse_time(db_text(c->rows, 6), &e.time_ns, err) < 0)
		e.time_ns = 0;
	e.payload = db_text(c->rows, 7);
	e.payload_len = db_text_len(c->rows, 7);
	if (!e.id || !e.type || !e.payload)
		return error_set(
			err, ERR_FORMAT, "event %" PRIu64 " has no id, type or payload", e.seq);
	if (!str_is_utf8(e.id, strlen(e.id)) || !str_is_utf8(e.type, strlen(e.type)))
		return error_set(err, ERR_FORMAT,
			"event %" PRIu64 " has an id or a type that is not UTF-8", e.seq);
	if (raw_check(e.payload, e.payload_len, RAW_PYTHON, &payload, err) < 0)
		return error_wrap(err, "the payload of %.100s in run %.100s", e.id, c->run);
	if (raw_kind(payload) != '{')
		return error_set(err, ERR_FORMAT,
			"the payload of %.100s in run %.100s is no JSON object", e.id, c->run);
	*ret = e;
	return 1;
}

static int event_find(struct ledger *l, const struct ledger_run *run, const char *id,
	uint64_t *ret_seq, struct error *err)
{
	return find_seq(l, run->id, id, ret_seq, err);
}

static int count(struct ledger *l, const struct ledger_run *run, uint64_t from, const char *type,
	uint64_t *ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	int got;

	got = type ? db_query(l->db, &r, err,
			     "SELECT count(*) FROM events WHERE run_id = ? AND seq >= ? AND type = "
			     "?",
			     "tit", run->id, (int64_t)from, type)
		   : db_query(l->db, &r, err,
			     "SELECT count(*) FROM events WHERE run_id = ? AND seq >= ?", "ti",
			     run->id, (int64_t)from);
	return got < 0 || number_of(r, ret, err) < 0 ? -1 : 0;
}

/* The digits of [A-Za-z]+_\d+, 0 of anything else. */
static uint64_t suffix_of(const char *id)
{
	const char *p = id;
	struct error err;
	uint64_t number;

	while ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z'))
		p++;
	if (p == id || *p != '_' || num_parse_u64(p + 1, LEDGER_NUMBER_MAX, &number, &err) < 0)
		return 0;
	return number;
}

/* What a compacted run's first event says about the ids that are gone with the others. */
static uint64_t counter_of(const char *payload)
{
	struct raw value = {payload, strlen(payload)}, counters, number;
	autofree char *text = NULL;
	struct error err;
	uint64_t n;

	if (!raw_find(value, "id_counters", &counters) || !raw_find(counters, "event", &number))
		return 0;
	text = mem_strndup(number.text, number.len);
	return num_parse_u64(text, LEDGER_NUMBER_MAX, &n, &err) < 0 ? 0 : n;
}

/* The counter of ids is the highest that any id of the run shows. */
static int read_counter(struct ledger_writer *w, uint64_t *ret, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	uint64_t highest = 0;
	int got;

	if (db_query(w->ledger->db, &r, err,
		    "SELECT id, CASE type WHEN 'runtime.snapshot' THEN payload END FROM events "
		    "WHERE run_id = ?",
		    "t", w->run.id) < 0)
		return -1;
	while ((got = db_next(r, err)) > 0) {
		const char *id = db_text(r, 0), *payload = db_text(r, 1);
		uint64_t one = id ? suffix_of(id) : 0, other = payload ? counter_of(payload) : 0;

		highest = one > highest ? one : highest;
		highest = other > highest ? other : highest;
	}
	*ret = highest;
	return got;
}

static int head(struct ledger_writer *w, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	autofree char *id = NULL;
	uint64_t seq = 0, number;

	if (db_query(w->ledger->db, &r, err, "SELECT max(seq) FROM events WHERE run_id = ?", "t",
		    w->run.id) < 0 ||
		number_of(r, &seq, err) < 0)
		return -1;
	/* Known already, and nothing came since. */
	if (seq == w->seq && seq > 0)
		return 0;
	if (last_id(w->ledger, w->run.id, &id, err) < 0 || read_counter(w, &number, err) < 0)
		return -1;
	ledger_writer_move(w, seq, number, 0, id ? id : "");
	return 0;
}

static int append(
	struct ledger_writer *w, const struct ledger_new *e, uint64_t block, struct error *err)
{
	char minted[LEDGER_ID_SIZE], when[LEDGER_TIME_SIZE];
	const char *id = e->id ? e->id : minted;
	uint64_t number = w->number + 1, seen;
	int64_t seq = 0;

	if (block)
		return error_set(err, ERR_UNSUPPORTED,
			"an ActiveGraph store has no atomic blocks but its own promotes");
	ledger_id_format(minted, number);
	if (e->id) {
		seen = suffix_of(e->id);
		number = seen > w->number ? seen : w->number;
	}
	if (e->time_ns)
		num_format_time(when, e->time_ns - e->time_ns % NUM_SECOND_NS);
	else
		ledger_now(when);
	if (fault_point("ledger: insert event") < 0)
		return error_sys(err, "append to the run");
	if (db_change(w->ledger->db, NULL, err,
		    "INSERT INTO events (id, type, actor, payload, frame_id, caused_by, timestamp, "
		    "run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		    "tttntttt", id, e->type, e->actor, e->payload, e->payload_len, e->frame,
		    e->caused_by, when, w->run.id) < 0 ||
		db_number(w->ledger->db, "SELECT last_insert_rowid()", &seq, err) < 0)
		return -1;
	ledger_writer_move(w, (uint64_t)seq, number, 0, id);
	return 0;
}

/* Verifying. */

static int verify_snapshot(struct ledger *l, const char *run, struct raw payload,
	struct ledger_faults *f, struct error *err)
{
	autofree char *hash = raw_find_string(payload, "state_hash");
	auto_rows struct db_rows *r = NULL;
	char digest[DIGEST_TEXT];
	int got;

	if (!hash) {
		ledger_fault(f, run, "its snapshot names no state_hash");
		return 0;
	}
	if (db_query(l->db, &r, err, "SELECT blob FROM snapshots WHERE state_hash = ?", "t", hash) <
		0)
		return -1;
	got = db_next(r, err);
	if (got < 0)
		return -1;
	if (got == 0 || !db_text(r, 0)) {
		ledger_fault(f, run, "the snapshot %.100s is missing", hash);
		return 0;
	}
	digest_of(db_text(r, 0), db_text_len(r, 0), digest);
	if (strcmp(digest, hash) != 0)
		ledger_fault(f, run, "the snapshot %.100s holds other bytes", hash);
	return 0;
}

struct verifying {
	struct ledger *ledger;
	struct ledger_faults *faults;
};

static int verify_run(void *context, const struct ledger_run *run, struct error *err)
{
	struct verifying *v = context;
	auto_ledger_run struct ledger_run parent = {0};
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	int got;

	if (run->parent) {
		got = run_find(v->ledger, run->parent, &parent, err);
		if (got < 0)
			return -1;
		if (got == 0)
			ledger_fault(
				v->faults, run->id, "its parent %.100s is missing", run->parent);
	}
	if (run->at && !run->shared)
		ledger_fault(
			v->faults, run->id, "the event of its fork, %.100s, is missing", run->at);
	if (ledger_events(v->ledger, run->id, 0, 0, &c, err) < 0)
		return -1;
	while ((got = next(c, &e, err)) > 0)
		if (strcmp(e.type, "runtime.snapshot") == 0 &&
			verify_snapshot(v->ledger, run->id, (struct raw){e.payload, e.payload_len},
				v->faults, err) < 0)
			return -1;
	if (got < 0)
		ledger_fault(v->faults, run->id, "%s", err->msg);
	return 0;
}

static int verify(struct ledger *l, struct ledger_faults *f, struct error *err)
{
	struct verifying v = {l, f};
	auto_rows struct db_rows *r = NULL;
	int got;

	if (ledger_verify_pages(l, f, err) < 0)
		return -1;
	if (f->count)
		return 0; /* what cannot be read whole tells nothing more */
	if (db_query(l->db, &r, err,
		    "SELECT DISTINCT run_id FROM events WHERE run_id NOT IN (SELECT run_id FROM "
		    "runs) ORDER BY run_id",
		    "") < 0)
		return -1;
	while ((got = db_next(r, err)) > 0)
		ledger_fault(f, db_text(r, 0), "it has events and no row of its own");
	return got < 0 ? -1 : run_each(l, verify_run, &v, err);
}

const struct ledger_ops ledger_activegraph = {
	.run_new = run_new,
	.run_find = run_find,
	.run_each = run_each,
	.fork = fork_run,
	.next = next,
	.event_find = event_find,
	.count = count,
	.head = head,
	.append = append,
	.verify = verify,
};
