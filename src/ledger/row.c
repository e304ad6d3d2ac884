/* SPDX-License-Identifier: Apache-2.0 */
/* Events of our own schema: read along a lineage, found, appended. See row.h. */
#include "ledger/row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/str.h"

uint32_t row_crc_number(uint32_t before, uint64_t value)
{
	unsigned char bytes[8];

	bytes_store_u64(bytes, value);
	return crc32c(before, bytes, sizeof(bytes));
}

uint32_t row_crc_text(uint32_t before, const char *text, size_t len)
{
	uint32_t crc = row_crc_number(before, text ? len : UINT64_MAX);

	return text ? crc32c(crc, text, len) : crc;
}

static uint32_t crc_short(uint32_t before, const char *text)
{
	return row_crc_text(before, text, text ? strlen(text) : 0);
}

static int64_t crc_of(int64_t run, uint64_t number, const char *id, const struct ledger_event *e)
{
	unsigned char head[40];
	uint32_t crc;

	bytes_store_u64(head, (uint64_t)run);
	bytes_store_u64(head + 8, e->seq);
	bytes_store_u64(head + 16, number);
	bytes_store_u64(head + 24, e->time_ns);
	bytes_store_u64(head + 32, e->block);
	crc = crc32c(0, head, sizeof(head));
	crc = crc_short(crc, id);
	crc = crc_short(crc, e->type);
	crc = crc_short(crc, e->actor);
	crc = crc_short(crc, e->caused_by);
	return row_crc_text(crc, e->payload, e->payload_len);
}

/* Lineage. */

int ledger_segments(struct ledger *l, int64_t run, uint64_t to, struct ledger_segment **ret,
	size_t *ret_count, struct error *err)
{
	autofree struct ledger_segment *list = NULL;
	size_t count = 0, room = 0;

	while (run) {
		auto_rows struct db_rows *r = NULL;
		int64_t parent;
		uint64_t cut;

		if (db_query(l->db, &r, err, "SELECT parent, cut FROM runs WHERE number = ?", "i",
			    run) < 0)
			return -1;
		if (db_next(r, err) <= 0)
			return error_set(err, ERR_FORMAT,
				"run %" PRId64 " is not there: the ledger is damaged", run);
		parent = db_int(r, 0);
		cut = (uint64_t)db_int(r, 1);
		/* A parent is always the older one, so that this ends. */
		if (parent >= run || parent < 0)
			return error_set(err, ERR_FORMAT,
				"run %" PRId64 " has a parent that is younger: the ledger is "
				"damaged",
				run);
		if (count == room) {
			room = room ? 2 * room : 4;
			list = mem_grow(list, room, sizeof(*list));
		}
		if (to > cut)
			list[count++] = (struct ledger_segment){run, cut + 1, to};
		if (to > cut)
			to = cut;
		run = parent;
	}
	for (size_t i = 0; i < count / 2; i++) {
		struct ledger_segment s = list[i];

		list[i] = list[count - 1 - i];
		list[count - 1 - i] = s;
	}
	*ret = take_ptr(list);
	*ret_count = count;
	return 0;
}

/* Reading. */

#define COLUMNS \
	"SELECT seq, number, id, type, actor, caused_by, time, block, payload, crc FROM events "

/* A row of COLUMNS; id is room for one that is not in it. */
static int fill(struct db_rows *r, int64_t run, char id[LEDGER_ID_SIZE], uint64_t *ret_number,
	struct ledger_event *ret, struct error *err)
{
	const char *own_id = db_text(r, 2);
	struct ledger_event e = {.seq = (uint64_t)db_int(r, 0),
		.type = db_text(r, 3),
		.actor = db_text(r, 4),
		.caused_by = db_text(r, 5),
		.time_ns = (uint64_t)db_int(r, 6),
		.block = (uint64_t)db_int(r, 7),
		.payload = db_text(r, 8),
		.payload_len = db_text_len(r, 8)};
	uint64_t number = (uint64_t)db_int(r, 1);

	if (!e.type || !e.payload || crc_of(run, number, own_id, &e) != db_int(r, 9))
		return error_set(err, ERR_FORMAT,
			"event %" PRIu64 " of run %" PRId64
			" is not as it was written: the ledger is damaged",
			e.seq, run);
	if ((own_id && !str_is_utf8(own_id, strlen(own_id))) ||
		!str_is_utf8(e.type, strlen(e.type)))
		return error_set(err, ERR_FORMAT,
			"event %" PRIu64 " of run %" PRId64
			" has an id or a type that is not UTF-8",
			e.seq, run);
	if (!own_id)
		ledger_id_format(id, number);
	e.id = own_id ? own_id : id;
	*ret = e;
	if (ret_number)
		*ret_number = number;
	return 0;
}

/* The rows of the cursor's segment, from where it is. */
static int begin_segment(struct ledger_cursor *c, struct error *err)
{
	const struct ledger_segment *s = &c->segments[c->at];
	uint64_t first = s->first > c->from ? s->first : c->from;

	return db_query(c->ledger->db, &c->rows, err,
		COLUMNS "WHERE run = ? AND seq BETWEEN ? AND ? ORDER BY seq", "iii", s->run,
		(int64_t)first, (int64_t)s->last);
}

int row_next(struct ledger_cursor *c, struct ledger_event *ret, struct error *err)
{
	while (c->at < c->count) {
		int got;

		if (!c->rows && begin_segment(c, err) < 0)
			return -1;
		got = db_next(c->rows, err);
		if (got < 0)
			return -1;
		if (got > 0 && fill(c->rows, c->segments[c->at].run, c->id, NULL, ret, err) < 0)
			return -1;
		/* A gap is damage: nothing of a history may be missing. */
		if (got > 0 && ret->seq != c->from)
			return error_set(err, ERR_FORMAT,
				"event %" PRIu64 " of run %s is missing: the ledger is damaged",
				c->from, c->run);
		if (got > 0) {
			c->from = ret->seq + 1;
			return 1;
		}
		db_rows_cleanup(&c->rows);
		if (c->from <= c->segments[c->at].last)
			return error_set(err, ERR_FORMAT,
				"event %" PRIu64 " of run %s is missing: the ledger is damaged",
				c->from, c->run);
		c->at++;
	}
	return 0;
}

int row_at(struct ledger *l, int64_t run, uint64_t seq, struct row_event *ret, struct error *err)
{
	autofree struct ledger_segment *list = NULL;
	auto_rows struct db_rows *r = NULL;
	char id[LEDGER_ID_SIZE];
	struct ledger_event e;
	uint64_t number;
	size_t count = 0;
	int got = 0;

	if (ledger_segments(l, run, seq, &list, &count, err) < 0)
		return -1;
	if (count > 0) {
		if (db_query(l->db, &r, err, COLUMNS "WHERE run = ? AND seq = ?", "ii",
			    list[count - 1].run, (int64_t)seq) < 0)
			return -1;
		got = db_next(r, err);
	}
	if (got < 0)
		return -1;
	if (got == 0)
		return error_set(err, ERR_FORMAT,
			"event %" PRIu64 " of run %" PRId64 " is missing: the ledger is damaged",
			seq, run);
	if (fill(r, list[count - 1].run, id, &number, &e, err) < 0)
		return -1;
	if (strlen(e.id) > LEDGER_ID_MAX)
		return error_set(err, ERR_FORMAT, "the id of event %" PRIu64 " is too long", seq);
	*ret = (struct row_event){
		.number = number, .time_ns = e.time_ns, .block = e.block, .is_counted = e.id == id};
	memcpy(ret->id, e.id, strlen(e.id) + 1);
	return 0;
}

/* The first seq whose number is at least this one; 1 found, 0, -1. Numbers never fall. */
static int find_number(struct ledger *l, const struct ledger_run *run, uint64_t number,
	uint64_t *ret_seq, struct error *err)
{
	uint64_t low = 1, high = run->last + 1;
	struct row_event e;

	if (number <= run->last) {
		/* Nearly always: no id was ever given from outside. */
		if (row_at(l, run->number, number, &e, err) < 0)
			return -1;
		if (e.number == number && e.is_counted) {
			*ret_seq = number;
			return 1;
		}
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (row_at(l, run->number, middle, &e, err) < 0)
			return -1;
		if (e.number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > run->last)
		return 0;
	if (row_at(l, run->number, low, &e, err) < 0)
		return -1;
	*ret_seq = low;
	return e.number == number && e.is_counted;
}

int event_find(struct ledger *l, const struct ledger_run *run, const char *id, uint64_t *ret_seq,
	struct error *err)
{
	autofree struct ledger_segment *list = NULL;
	uint64_t number;
	size_t count = 0;

	if (ledger_id_is_counted(id, &number))
		return find_number(l, run, number, ret_seq, err);
	if (ledger_segments(l, run->number, run->last, &list, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		auto_rows struct db_rows *r = NULL;
		int got;

		if (db_query(l->db, &r, err, "SELECT seq FROM events WHERE run = ? AND id = ?",
			    "it", list[i].run, id) < 0)
			return -1;
		got = db_next(r, err);
		if (got < 0)
			return -1;
		if (got > 0 && (uint64_t)db_int(r, 0) <= list[i].last) {
			*ret_seq = (uint64_t)db_int(r, 0);
			return 1;
		}
	}
	return 0;
}

int event_count(struct ledger *l, const struct ledger_run *run, uint64_t from, const char *type,
	uint64_t *ret, struct error *err)
{
	autofree struct ledger_segment *list = NULL;
	uint64_t total = 0;
	size_t count = 0;

	if (!type) {
		*ret = from > run->last ? 0 : run->last - (from ? from - 1 : 0);
		return 0;
	}
	if (ledger_segments(l, run->number, run->last, &list, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		auto_rows struct db_rows *r = NULL;
		uint64_t first = list[i].first > from ? list[i].first : from;

		if (db_query(l->db, &r, err,
			    "SELECT count(*) FROM events WHERE run = ? AND seq BETWEEN ? AND ? "
			    "AND type = ?",
			    "iiit", list[i].run, (int64_t)first, (int64_t)list[i].last, type) < 0 ||
			db_next(r, err) < 0)
			return -1;
		total += (uint64_t)db_int(r, 0);
	}
	*ret = total;
	return 0;
}

/* Writing. */

int row_head(struct ledger_writer *w, struct error *err)
{
	auto_rows struct db_rows *r = NULL;
	struct row_event e = {0};
	uint64_t seq = w->run.shared;
	int got;

	if (db_query(w->ledger->db, &r, err, "SELECT max(seq) FROM events WHERE run = ?", "i",
		    w->run.number) < 0)
		return -1;
	got = db_next(r, err);
	if (got < 0)
		return -1;
	if (got > 0 && db_text(r, 0))
		seq = (uint64_t)db_int(r, 0);
	if (seq && row_at(w->ledger, w->run.number, seq, &e, err) < 0)
		return -1;
	ledger_writer_move(w, seq, e.number, e.time_ns, e.id);
	return 0;
}

/* The id of an event as its row has it: NULL is the one of its number. */
static int choose_id(struct ledger_writer *w, const struct ledger_new *e, uint64_t *ret_number,
	const char **ret_id, struct error *err)
{
	struct ledger_run now = w->run;
	uint64_t number, seq;
	int found;

	if (!e->id) {
		*ret_number = w->number + 1;
		*ret_id = NULL;
		return 0;
	}
	if (ledger_id_is_counted(e->id, &number)) {
		if (number <= w->number)
			return error_set(err, ERR_FORMAT,
				"the id '%s' was given already, or passed over", e->id);
		*ret_number = number;
		*ret_id = NULL;
		return 0;
	}
	now.last = w->seq;
	found = event_find(w->ledger, &now, e->id, &seq, err);
	if (found < 0)
		return -1;
	if (found > 0)
		return error_set(err, ERR_FORMAT, "the id '%s' was given already", e->id);
	*ret_number = w->number;
	*ret_id = e->id;
	return 0;
}

int row_append(
	struct ledger_writer *w, const struct ledger_new *e, uint64_t block, struct error *err)
{
	static const char sql[] = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	struct ledger_event row = {.seq = w->seq + 1,
		.type = e->type,
		.actor = e->actor,
		.caused_by = e->caused_by,
		.payload = e->payload,
		.payload_len = e->payload_len,
		.time_ns = e->time_ns ? e->time_ns : w->time_ns,
		.block = block};
	char counted[LEDGER_ID_SIZE];
	uint64_t number;
	const char *id;

	if (row.time_ns < w->time_ns)
		return error_set(err, ERR_FORMAT,
			"its time, %" PRIu64 " ns, is before that of the event before it, %" PRIu64,
			row.time_ns, w->time_ns);
	if (e->frame)
		return error_set(err, ERR_UNSUPPORTED, "only an ActiveGraph store has frames");
	if (choose_id(w, e, &number, &id, err) < 0)
		return -1;
	if (fault_point("ledger: insert event") < 0)
		return error_sys(err, "append to the run");
	if (db_change(w->ledger->db, NULL, err, sql, "iiittttiini", w->run.number, (int64_t)row.seq,
		    (int64_t)number, id, row.type, row.actor, row.caused_by, (int64_t)row.time_ns,
		    (int64_t)block, row.payload, row.payload_len,
		    crc_of(w->run.number, number, id, &row)) < 0)
		return -1;
	ledger_id_format(counted, number);
	ledger_writer_move(w, row.seq, number, row.time_ns, id ? id : counted);
	return 0;
}
