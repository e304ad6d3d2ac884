/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a ledger of either schema, and what does not depend on which it is: see ledger.h. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/raw.h"
#include "ledger/inside.h"

/* SQLite would make it with the umask's mode. */
static int make_file(const char *path, struct error *err)
{
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? error_sys(err, "open '%.300s'", path) : 0;
}

/* By its meta row; ours is told by PRAGMA application_id. */
static int is_activegraph(struct db *d, struct error *err)
{
	static const char tables[] = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
				     "name IN ('meta', 'events', 'runs')";
	auto_rows struct db_rows *r = NULL;
	const char *version;
	int64_t count = 0;
	int got;

	if (db_number(d, tables, &count, err) < 0)
		return -1;
	if (count != 3)
		return 0;
	if (db_query(d, &r, err, "SELECT value FROM meta WHERE key = 'schema_version'", "") < 0)
		return -1;
	got = db_next(r, err);
	if (got <= 0)
		return got;
	version = db_text(r, 0);
	if (!version || strcmp(version, "1") != 0)
		return error_set(err, ERR_UNSUPPORTED,
			"this ActiveGraph store is of schema version '%.20s', and this program "
			"knows 1",
			version ? version : "");
	return 1;
}

static int recognise(struct ledger *l, bool may_make, struct error *err)
{
	int64_t id = 0, tables = 0;
	int foreign;

	if (db_number(l->db, "PRAGMA application_id", &id, err) < 0 ||
		db_number(l->db, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
		return -1;
	if ((uint32_t)id == ledger_schema.application_id || (may_make && id == 0 && tables == 0)) {
		l->ops = &ledger_ours;
		return db_adopt(l->db, &ledger_schema, err);
	}
	foreign = id == 0 ? is_activegraph(l->db, err) : 0;
	if (foreign < 0)
		return -1;
	if (!foreign)
		return error_set(err, ERR_FORMAT,
			tables ? "this database is of another program"
			       : "this file holds no ledger: 'runs new' makes one");
	l->ops = &ledger_activegraph;
	return db_run(l->db,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
		"PRAGMA trusted_schema = OFF",
		err);
}

int ledger_open(const char *path, enum ledger_mode mode, unsigned wait_ms, struct ledger **ret,
	struct error *err)
{
	auto_ledger struct ledger *l = mem_alloc(sizeof(*l));

	if (mode == LEDGER_MAKE && make_file(path, err) < 0)
		return -1;
	if (db_open_bare(path, wait_ms, &l->db, err) < 0)
		return -1;
	if (recognise(l, mode == LEDGER_MAKE, err) < 0)
		return error_wrap(err, "'%.200s'", path);
	*ret = take_ptr(l);
	return 0;
}

void ledger_close(struct ledger *l)
{
	if (!l)
		return;
	db_rollback(&l->held);
	db_close(l->db);
	free(l);
}

void ledger_cleanup(struct ledger **l)
{
	ledger_close(*l);
	*l = NULL;
}

enum ledger_kind ledger_kind(const struct ledger *l)
{
	return l->ops == &ledger_ours ? LEDGER_OURS : LEDGER_ACTIVEGRAPH;
}

/* Transactions. */

int ledger_begin(struct ledger *l, struct db_transaction *ret, struct error *err)
{
	return l->held.db ? 0 : db_begin(l->db, ret, err);
}

int ledger_end(struct ledger *l, struct db_transaction *t, struct error *err)
{
	return l->held.db ? 0 : db_commit(t, err);
}

int ledger_hold(struct ledger *l, struct ledger **ret, struct error *err)
{
	if (db_begin(l->db, &l->held, err) < 0)
		return -1;
	*ret = l;
	return 0;
}

int ledger_commit(struct ledger **hold, struct error *err)
{
	if (db_commit(&(*hold)->held, err) < 0)
		return -1;
	*hold = NULL;
	return 0;
}

void ledger_release(struct ledger **hold)
{
	if (*hold)
		db_rollback(&(*hold)->held);
	*hold = NULL;
}

/* Runs. */

void ledger_run_finish(struct ledger_run *r)
{
	free(r->id);
	free(r->parent);
	free(r->at);
	free(r->label);
	free(r->goal);
	free(r->created);
	*r = (struct ledger_run){0};
}

/* Text that SQLite, JSON and a terminal can hold. */
static int check_text(const char *what, const char *text, size_t max, struct error *err)
{
	size_t len = text ? strlen(text) : 0;

	if (len > max)
		return error_set(
			err, ERR_LIMIT, "%s of %zu bytes; the limit is %zu", what, len, max);
	if (text && !str_is_utf8(text, len))
		return error_set(err, ERR_FORMAT, "%s is not UTF-8", what);
	return 0;
}

int ledger_run_new(struct ledger *l, const char *label, const char *goal, char ret_id[LEDGER_ULID],
	struct error *err)
{
	if (check_text("the label", label, LEDGER_LABEL_MAX, err) < 0 ||
		check_text("the goal", goal, LEDGER_LABEL_MAX, err) < 0)
		return -1;
	return l->ops->run_new(l, label, goal, ret_id, err);
}

int ledger_run_find(struct ledger *l, const char *id, struct ledger_run *ret, struct error *err)
{
	return l->ops->run_find(l, id, ret, err);
}

int ledger_run_get(struct ledger *l, const char *id, struct ledger_run *ret, struct error *err)
{
	int found = l->ops->run_find(l, id, ret, err);

	if (found == 0)
		return error_set(err, ERR_MISSING, "no run '%.100s': 'runs list' names them", id);
	return found < 0 ? -1 : 0;
}

int ledger_run_each(struct ledger *l, ledger_run_visitor *visit, void *context, struct error *err)
{
	return l->ops->run_each(l, visit, context, err);
}

int ledger_fork(struct ledger *l, const char *parent, const char *at, const char *label,
	char ret_id[LEDGER_ULID], struct error *err)
{
	if (check_text("the label", label, LEDGER_LABEL_MAX, err) < 0)
		return -1;
	return l->ops->fork(l, parent, at, label, ret_id, err);
}

/* Events. */

int ledger_events(struct ledger *l, const char *run, uint64_t from, uint64_t to,
	struct ledger_cursor **ret, struct error *err)
{
	auto_ledger_run struct ledger_run r = {0};
	auto_ledger_cursor struct ledger_cursor *c = NULL;

	if (ledger_run_get(l, run, &r, err) < 0)
		return -1;
	c = mem_alloc(sizeof(*c));
	c->ledger = l;
	c->run = take_ptr(r.id);
	c->from = from ? from : 1;
	/* What is appended from now on is not of it. */
	c->to = to && to < r.last ? to : r.last;
	if (l->ops == &ledger_ours &&
		ledger_segments(l, r.number, c->to, &c->segments, &c->count, err) < 0)
		return -1;
	*ret = take_ptr(c);
	return 0;
}

int ledger_next(struct ledger_cursor *c, struct ledger_event *ret, struct error *err)
{
	return c->ledger->ops->next(c, ret, err);
}

void ledger_cursor_cleanup(struct ledger_cursor **c)
{
	if (!*c)
		return;
	db_rows_cleanup(&(*c)->rows);
	free((*c)->segments);
	free((*c)->run);
	free(*c);
	*c = NULL;
}

int ledger_event_find(
	struct ledger *l, const char *run, const char *id, uint64_t *ret_seq, struct error *err)
{
	auto_ledger_run struct ledger_run r = {0};

	if (ledger_run_get(l, run, &r, err) < 0)
		return -1;
	return l->ops->event_find(l, &r, id, ret_seq, err);
}

int ledger_count(struct ledger *l, const char *run, uint64_t from, const char *type, uint64_t *ret,
	struct error *err)
{
	auto_ledger_run struct ledger_run r = {0};

	if (ledger_run_get(l, run, &r, err) < 0)
		return -1;
	return l->ops->count(l, &r, from, type, ret, err);
}

int ledger_common(
	struct ledger *l, const char *a, const char *b, uint64_t *ret_seq, struct error *err)
{
	auto_ledger_run struct ledger_run ra = {0}, rb = {0};
	autofree struct ledger_segment *sa = NULL, *sb = NULL;
	size_t ca = 0, cb = 0;
	uint64_t common = 0;

	if (ledger_run_get(l, a, &ra, err) < 0 || ledger_run_get(l, b, &rb, err) < 0)
		return -1;
	if (l->ops == &ledger_ours &&
		(ledger_segments(l, ra.number, ra.last, &sa, &ca, err) < 0 ||
			ledger_segments(l, rb.number, rb.last, &sb, &cb, err) < 0))
		return -1;
	/* Both lists begin with the oldest run; in one run's events the shorter one ends them. */
	for (size_t i = 0; i < ca && i < cb && sa[i].run == sb[i].run; i++) {
		common = sa[i].last < sb[i].last ? sa[i].last : sb[i].last;
		if (sa[i].last != sb[i].last)
			break;
	}
	*ret_seq = common;
	return 0;
}

/* Writing. */

void ledger_writer_move(
	struct ledger_writer *w, uint64_t seq, uint64_t number, uint64_t time_ns, const char *id)
{
	size_t size = strlen(id) + 1;

	w->seq = seq;
	w->number = number;
	w->time_ns = time_ns;
	w->id = mem_grow(w->id, size, 1);
	memcpy(w->id, id, size);
}

int ledger_writer_open(
	struct ledger *l, const char *run, struct ledger_writer **ret, struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = mem_alloc(sizeof(*w));

	w->ledger = l;
	w->id = mem_strdup("");
	if (ledger_run_get(l, run, &w->run, err) < 0 || l->ops->head(w, err) < 0)
		return -1;
	*ret = take_ptr(w);
	return 0;
}

void ledger_writer_cleanup(struct ledger_writer **w)
{
	if (!*w)
		return;
	ledger_run_finish(&(*w)->run);
	free((*w)->id);
	free(*w);
	*w = NULL;
}

uint64_t ledger_writer_seq(const struct ledger_writer *w)
{
	return w->seq;
}

const char *ledger_writer_id(const struct ledger_writer *w)
{
	return w->id;
}

uint64_t ledger_writer_number(const struct ledger_writer *w)
{
	return w->number;
}

int ledger_check_new(const struct ledger_new *e, struct error *err)
{
	struct raw payload;

	if (!e->type || !*e->type)
		return error_set(err, ERR_FORMAT, "an event without a type");
	if (e->id && !*e->id)
		return error_set(err, ERR_FORMAT, "an event's id is empty");
	if (check_text("a type", e->type, LEDGER_ID_MAX, err) < 0 ||
		check_text("an actor", e->actor, LEDGER_ID_MAX, err) < 0 ||
		check_text("caused_by", e->caused_by, LEDGER_ID_MAX, err) < 0 ||
		check_text("an id", e->id, LEDGER_ID_MAX, err) < 0)
		return -1;
	if (e->payload_len > LEDGER_PAYLOAD_MAX)
		return error_set(err, ERR_LIMIT, "a payload of %zu bytes; the limit is %d",
			e->payload_len, LEDGER_PAYLOAD_MAX);
	if (raw_check(e->payload, e->payload_len, RAW_STRICT, &payload, err) < 0)
		return error_wrap(err, "a payload");
	if (raw_kind(payload) != '{')
		return error_set(err, ERR_FORMAT, "a payload has to be a JSON object");
	if (e->time_ns > INT64_MAX)
		return error_set(err, ERR_LIMIT, "a time past 2^63 ns");
	return 0;
}

static int step(const char *name, struct error *err)
{
	return fault_point(name) < 0 ? error_sys(err, "append to the run") : 0;
}

/* Inside a transaction; w is a copy that counts when all of it went well. */
static int append_all(struct ledger_writer *w, const struct ledger_new *events, size_t count,
	bool is_block, struct error *err)
{
	uint64_t known = w->seq, block;

	if (w->ledger->ops->head(w, err) < 0)
		return -1;
	if (w->seq != known)
		return error_set(err, ERR_BUSY,
			"run %s has grown since: another writer has appended to it", w->run.id);
	block = is_block ? w->seq + count : 0;
	for (size_t i = 0; i < count; i++)
		if (ledger_check_new(&events[i], err) < 0 ||
			w->ledger->ops->append(w, &events[i], block, err) < 0)
			return error_wrap(err, "event %zu of %zu", i + 1, count);
	return 0;
}

int ledger_append(struct ledger_writer *w, const struct ledger_new *events, size_t count,
	bool is_block, struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	struct ledger_writer next = *w;

	if (count == 0)
		return 0;
	next.id = mem_strdup(w->id);
	if (step("ledger: begin", err) < 0 || ledger_begin(w->ledger, &t, err) < 0 ||
		append_all(&next, events, count, is_block, err) < 0 ||
		step("ledger: commit", err) < 0 || ledger_end(w->ledger, &t, err) < 0) {
		free(next.id);
		return -1;
	}
	free(w->id);
	*w = next;
	return step("ledger: committed", err);
}

/* The whole store. */

void ledger_fault(struct ledger_faults *f, const char *run, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	f->count++;
	if (!f->visit)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->visit(f->context, run, text);
}

int ledger_verify(struct ledger *l, ledger_fault_visitor *visit, void *context, uint64_t *ret,
	struct error *err)
{
	struct ledger_faults f = {.visit = visit, .context = context};

	if (l->ops->verify(l, &f, err) < 0)
		return -1;
	*ret = f.count;
	return 0;
}
