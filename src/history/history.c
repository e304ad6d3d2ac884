/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded runs of the sandbox as runs of a ledger: see history.h. */
#include "history/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "codec/json.h"
#include "codec/raw.h"
#include "crypto/base64url.h"
#include "tape/tape.h"

enum { BATCH_BYTES = 8 * 1024 * 1024, BATCH_COUNT = 1000 };

/* Events that wait to be appended together. */
struct batch {
	struct ledger_writer *writer;
	struct ledger_new *list;
	char **texts; /* two an event: type, payload */
	size_t count, bytes;
};

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < 2 * b->count; i++)
		free(b->texts[i]);
	b->count = b->bytes = 0;
}

static void batch_finish(struct batch *b)
{
	batch_clear(b);
	free(b->list);
	free(b->texts);
}

static int batch_flush(struct batch *b, struct error *err)
{
	if (ledger_append(b->writer, b->list, b->count, false, err) < 0)
		return -1;
	batch_clear(b);
	return 0;
}

/* Takes both texts. */
static int batch_add(
	struct batch *b, char *type, char *payload, uint64_t time_ns, struct error *err)
{
	if (!b->list) {
		b->list = mem_array(BATCH_COUNT, sizeof(*b->list));
		b->texts = mem_array(2 * BATCH_COUNT, sizeof(*b->texts));
	}
	b->list[b->count] = (struct ledger_new){.type = type,
		.payload = payload,
		.payload_len = strlen(payload),
		.actor = "tape",
		.time_ns = time_ns};
	b->texts[2 * b->count] = type;
	b->texts[2 * b->count + 1] = payload;
	b->bytes += strlen(payload);
	b->count++;
	return b->count == BATCH_COUNT || b->bytes > BATCH_BYTES ? batch_flush(b, err) : 0;
}

/* {"data": base64url, "kind", "size", "task"} */
static char *payload_of(const struct tape_record *r)
{
	autofree char *data = mem_alloc(BASE64URL_SIZE(r->len));

	base64url_format(r->payload, r->len, data);
	return str_format("{\"data\":\"%s\",\"kind\":%u,\"size\":%zu,\"task\":%" PRIu32 "}", data,
		(unsigned)r->kind, r->len, r->task);
}

/* Records from where the reader is, but for those that are of a journal alone. */
static int add_records(
	struct batch *b, struct tape_reader *t, uint64_t *ret_count, struct error *err)
{
	struct tape_record r;
	uint64_t at, count = 0;
	int got;

	while ((got = tape_next(t, &r, err)) > 0) {
		const char *name = tape_kind_name(r.kind);

		if (r.kind == TAPE_EFFECT)
			continue;
		if (batch_add(b, str_format("tape.%s", name ? name : "unknown"), payload_of(&r),
			    r.now_ns, err) < 0)
			return -1;
		count++;
	}
	if (got == 0 && tape_damage(t, &at))
		return error_set(err, ERR_FORMAT, "the tape is cut at byte %" PRIu64 ": %s", at,
			tape_damage(t, &at));
	*ret_count = count;
	return got < 0 || batch_flush(b, err) < 0 ? -1 : 0;
}

int history_save(struct ledger *l, const char *tape, const char *label, char ret_id[LEDGER_ULID],
	struct error *err)
{
	auto_tape_reader struct tape_reader *t = NULL;
	auto_ledger_hold struct ledger *hold = NULL;
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct batch CLEANUP(batch_finish) b = {0};
	char id[LEDGER_ULID];
	uint64_t count;
	size_t len;

	if (tape_open(tape, &t, err) < 0 || ledger_hold(l, &hold, err) < 0 ||
		ledger_run_new(l, label, NULL, id, err) < 0 ||
		ledger_writer_open(l, id, &w, err) < 0)
		return -1;
	b.writer = w;
	if (batch_add(&b, mem_strdup("tape.header"),
		    str_format("{\"header\":%s}", tape_header(t, &len)), 0, err) < 0 ||
		add_records(&b, t, &count, err) < 0 || ledger_commit(&hold, err) < 0)
		return -1;
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

int history_extend(struct ledger *l, const char *run, const char *path, uint64_t records,
	uint64_t *ret_appended, struct error *err)
{
	auto_tape_reader struct tape_reader *t = NULL;
	auto_ledger_hold struct ledger *hold = NULL;
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct batch CLEANUP(batch_finish) b = {0};
	int there;

	if (tape_open(path, &t, err) < 0)
		return -1;
	there = tape_seek(t, records + 1, err);
	if (there < 0)
		return -1;
	*ret_appended = 0;
	if (there == 0)
		return 0;
	if (ledger_hold(l, &hold, err) < 0 || ledger_writer_open(l, run, &w, err) < 0)
		return -1;
	b.writer = w;
	if (add_records(&b, t, ret_appended, err) < 0)
		return -1;
	return ledger_commit(&hold, err);
}

/* Back to a tape. */

static int not_saved(const char *run, struct error *err)
{
	return error_set(err, ERR_UNSUPPORTED,
		"run %.100s is none that 'sandglass run --save' has saved", run);
}

static int create(
	const struct ledger_event *e, const char *path, struct tape_writer **ret, struct error *err)
{
	auto_json json_t *header = NULL;
	autofree char *text = NULL;
	struct raw raw;

	if (!raw_find((struct raw){e->payload, e->payload_len}, "header", &raw))
		return error_set(err, ERR_FORMAT, "event %.100s holds no header", e->id);
	if (json_read(raw.text, raw.len, TAPE_HEADER_MAX, &header, err) < 0)
		return error_wrap(err, "the header of event %.100s", e->id);
	if (!json_is_object(header))
		return error_set(err, ERR_FORMAT, "the header of event %.100s is no object", e->id);
	/* It says that a run may go on where it ends. */
	json_put(header, "journal", json_true());
	text = json_text(header);
	return tape_create(path, text, strlen(text), ret, err);
}

static int find_number(struct raw payload, const char *name, uint64_t max, uint64_t *ret)
{
	autofree char *text = NULL;
	struct error err;
	struct raw value;

	if (!raw_find(payload, name, &value))
		return -1;
	text = mem_strndup(value.text, value.len);
	return num_parse_u64(text, max, ret, &err);
}

/* 1: it went onto the tape, 0: it is how the run ended, -1. */
static int put_record(struct tape_writer *w, const struct ledger_event *e, struct error *err)
{
	struct raw payload = {e->payload, e->payload_len};
	autofree char *text = raw_find_string(payload, "data"), *data = NULL;
	uint64_t kind, size, task;

	if (!text || find_number(payload, "kind", UINT16_MAX, &kind) < 0 ||
		find_number(payload, "size", TAPE_PAYLOAD_MAX, &size) < 0 ||
		find_number(payload, "task", UINT32_MAX, &task) < 0)
		return error_set(err, ERR_FORMAT, "event %.100s is no record of a tape", e->id);
	if (kind == TAPE_OUTCOME || kind == TAPE_END || kind == TAPE_EFFECT)
		return 0;
	data = mem_alloc(size + 1);
	if (!base64url_parse(text, data, size))
		return error_set(err, ERR_FORMAT, "event %.100s is no record of a tape", e->id);
	return tape_append(w, (enum tape_kind)kind, (uint32_t)task, e->time_ns,
		       (struct tape_part[2]){{data, size}, {"", 0}}, err) < 0
		       ? -1
		       : 1;
}

/* The run's events up to `to` (0: all), behind the first, *ret_e, which is a tape's header. */
static int open_saved(struct ledger *l, const char *run, uint64_t to, struct ledger_cursor **ret,
	struct ledger_event *ret_e, struct error *err)
{
	int got;

	if (ledger_events(l, run, 0, to, ret, err) < 0)
		return -1;
	got = ledger_next(*ret, ret_e, err);
	if (got < 0)
		return -1;
	return got > 0 && strcmp(ret_e->type, "tape.header") == 0 ? 0 : not_saved(run, err);
}

int history_restore(struct ledger *l, const char *run, const char *path, uint64_t *ret_records,
	struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_tape_writer struct tape_writer *w = NULL;
	struct ledger_event e;
	uint64_t records = 0;
	int got;

	if (open_saved(l, run, 0, &c, &e, err) < 0)
		return -1;
	if (create(&e, path, &w, err) < 0)
		return -1;
	while ((got = ledger_next(c, &e, err)) > 0) {
		int put = str_has_prefix(e.type, "tape.") ? put_record(w, &e, err) : 0;

		if (put < 0)
			return -1;
		records += (uint64_t)put;
	}
	if (got < 0 || tape_flush(w, err) < 0)
		return -1;
	*ret_records = records;
	return 0;
}

int history_event(
	struct ledger *l, const char *run, uint64_t ordinal, char **ret_id, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL, *at = NULL;
	struct ledger_event e;
	int got;

	if (open_saved(l, run, 1, &c, &e, err) < 0)
		return -1;
	if (ledger_events(l, run, ordinal + 1, ordinal + 1, &at, err) < 0)
		return -1;
	got = ledger_next(at, &e, err);
	if (got == 0)
		return error_set(
			err, ERR_MISSING, "run %.100s has no record %" PRIu64, run, ordinal);
	if (got > 0)
		*ret_id = mem_strdup(e.id);
	return got < 0 ? -1 : 0;
}
