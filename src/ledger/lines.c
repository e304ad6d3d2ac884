/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON lines: see lines.h. */
#include "ledger/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/json.h"
#include "codec/raw.h"
#include "ledger/inside.h"

#define FORMAT "sandglass.ledger-run/1"

/* Writing. */

static void put_name(struct bytes *out, const char *name)
{
	if (out->data[out->len - 1] != '{')
		bytes_put_u8(out, ',');
	bytes_put_u8(out, '"');
	bytes_put(out, name, strlen(name));
	bytes_put(out, "\":", 2);
}

static void put_text(struct bytes *out, const char *name, const char *text)
{
	auto_json json_t *value = text ? json_str(text) : json_null();

	put_name(out, name);
	json_write(out, value);
}

static void put_number(struct bytes *out, const char *name, uint64_t n)
{
	auto_json json_t *value = json_u64(n);

	put_name(out, name);
	json_write(out, value);
}

void ledger_line_write(struct bytes *out, const struct ledger_event *e, const char *block)
{
	bytes_put_u8(out, '{');
	put_text(out, "actor", e->actor);
	if (block)
		put_text(out, "block", block);
	put_text(out, "caused_by", e->caused_by);
	if (e->frame)
		put_text(out, "frame", e->frame);
	put_text(out, "id", e->id);
	put_name(out, "payload");
	/* Between the strings of a payload a new line is white space, which a line cannot hold. */
	for (size_t i = 0; i < e->payload_len; i++)
		bytes_put_u8(out, e->payload[i] == '\n' || e->payload[i] == '\r'
					  ? ' '
					  : (uint8_t)e->payload[i]);
	put_number(out, "seq", e->seq);
	put_number(out, "time", e->time_ns);
	put_text(out, "type", e->type);
	bytes_put_u8(out, '}');
}

void ledger_line_write_run(struct bytes *out, const struct ledger_run *r)
{
	bytes_put_u8(out, '{');
	put_text(out, "at", r->at);
	put_text(out, "created", r->created);
	put_text(out, "format", FORMAT);
	put_text(out, "goal", r->goal);
	put_text(out, "label", r->label);
	put_text(out, "parent", r->parent);
	put_text(out, "run", r->id);
	bytes_put_u8(out, '}');
}

static int put_line(int fd, struct bytes *line, struct error *err)
{
	int r;

	bytes_put_u8(line, '\n');
	r = fd_write_all(fd, line->data, line->len, err);
	line->len = 0;
	return r;
}

/* The id of the last event of a block, which is asked for once a block. */
static int name_block(struct ledger *l, const char *run, const struct ledger_event *e,
	uint64_t *known, char **name, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event last;

	if (e->block == *known)
		return 0;
	free(*name);
	*name = NULL;
	*known = e->block;
	if (e->block == 0)
		return 0;
	if (ledger_events(l, run, e->block, e->block, &c, err) < 0 ||
		ledger_next(c, &last, err) < 0)
		return -1;
	*name = mem_strdup(last.id);
	return 0;
}

int ledger_export(struct ledger *l, const char *run, int fd, struct error *err)
{
	auto_ledger_run struct ledger_run r = {0};
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_bytes struct bytes line = {0};
	autofree char *block = NULL;
	uint64_t known = 0;
	struct ledger_event e;
	int got;

	if (ledger_run_get(l, run, &r, err) < 0 || ledger_events(l, run, 0, 0, &c, err) < 0)
		return -1;
	ledger_line_write_run(&line, &r);
	if (put_line(fd, &line, err) < 0)
		return -1;
	while ((got = ledger_next(c, &e, err)) > 0) {
		if (name_block(l, run, &e, &known, &block, err) < 0)
			return -1;
		ledger_line_write(&line, &e, block);
		if (put_line(fd, &line, err) < 0)
			return -1;
	}
	return got;
}

/* Reading. */

struct reader {
	int fd;
	struct bytes data;
	size_t at; /* what lies before it was given */
	bool ended;
	uint64_t line; /* number of the one given last */
};

/* The next line, without its newline and not empty: 1, 0, -1. Valid until the next call. */
static int next_line(struct reader *r, const char **ret, size_t *ret_len, struct error *err)
{
	static char buffer[65536];
	size_t looked = r->at;

	for (;;) {
		char *start = (char *)r->data.data + r->at;
		char *end = r->data.len > looked
				    ? memchr(r->data.data + looked, '\n', r->data.len - looked)
				    : NULL;
		ssize_t n;

		if (!end && r->ended && r->data.len > r->at)
			end = (char *)r->data.data + r->data.len;
		if (end) {
			r->line++;
			r->at = (size_t)(end - (char *)r->data.data) + 1;
			looked = r->at;
			*ret = start;
			*ret_len = (size_t)(end - start);
			if (strspn(start, " \t\r") < *ret_len)
				return 1;
			continue;
		}
		if (r->ended)
			return 0;
		if (r->at > 0) {
			memmove(r->data.data, r->data.data + r->at, r->data.len - r->at);
			r->data.len -= r->at;
			r->at = 0;
		}
		looked = r->data.len;
		if (r->data.len > LEDGER_LINE_MAX)
			return error_set(err, ERR_LIMIT, "line %" PRIu64 " is longer than %d bytes",
				r->line + 1, LEDGER_LINE_MAX);
		n = read(r->fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the events");
		r->ended = n == 0;
		bytes_put(&r->data, buffer, (size_t)n);
		/* So that a string function stops there. */
		bytes_put_u8(&r->data, 0);
		r->data.len--;
	}
}

/* A line as an event to append, its texts on the heap. */
struct entry {
	struct ledger_new n;
	char *type, *payload, *actor, *caused_by, *id, *frame, *block;
};

static void entry_finish(struct entry *e)
{
	free(e->type);
	free(e->payload);
	free(e->actor);
	free(e->caused_by);
	free(e->id);
	free(e->frame);
	free(e->block);
	*e = (struct entry){0};
}

/* A string or null. */
static int take_text(struct raw value, const char *name, char **ret, struct error *err)
{
	if (raw_kind(value) == 'n')
		return 0;
	free(*ret);
	*ret = raw_string(value);
	return *ret ? 0 : error_set(err, ERR_FORMAT, "'%s' has to be a string", name);
}

static int take_time(struct raw value, uint64_t *ret, struct error *err)
{
	autofree char *text = mem_strndup(value.text, value.len);

	if (num_parse_u64(text, INT64_MAX, ret, err) < 0)
		return error_set(err, ERR_FORMAT, "'time' has to be a count of nanoseconds");
	return 0;
}

static int take_member(
	struct entry *e, const char *name, struct raw value, bool is_import, struct error *err)
{
	const struct {
		const char *name;
		char **to;
		bool is_imported;
	} texts[] = {{"type", &e->type, false}, {"actor", &e->actor, false},
		{"caused_by", &e->caused_by, false}, {"id", &e->id, false},
		{"frame", &e->frame, false}, {"block", &e->block, true}};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strcmp(texts[i].name, name) == 0 && (is_import || !texts[i].is_imported))
			return take_text(value, name, texts[i].to, err);
	if (strcmp(name, "payload") == 0) {
		free(e->payload);
		e->payload = mem_strndup(value.text, value.len);
		return 0;
	}
	if (strcmp(name, "time") == 0)
		return take_time(value, &e->n.time_ns, err);
	if (is_import && strcmp(name, "seq") == 0)
		return 0;
	return error_set(err, ERR_FORMAT,
		"'%.60s' is no part of an event: type, payload, actor, caused_by, id and time are",
		name);
}

static int parse(const char *line, size_t len, bool is_import, struct entry *ret, struct error *err)
{
	struct entry CLEANUP(entry_finish) e = {0};
	struct raw object, key, value;
	struct raw_walk w;

	/* The payload is looked through once more, strictly, where it is appended. */
	if (raw_check(line, len, RAW_STRICT, &object, err) < 0)
		return -1;
	if (raw_kind(object) != '{')
		return error_set(err, ERR_FORMAT, "an event has to be a JSON object");
	w = raw_walk(object);
	while (raw_next(&w, &key, &value)) {
		autofree char *name = raw_string(key);

		if (take_member(&e, name ? name : "", value, is_import, err) < 0)
			return -1;
	}
	if (!e.type || !e.payload)
		return error_set(err, ERR_FORMAT, "an event needs 'type' and 'payload'");
	e.n.type = e.type;
	e.n.payload = e.payload;
	e.n.payload_len = strlen(e.payload);
	e.n.actor = e.actor;
	e.n.caused_by = e.caused_by;
	e.n.id = e.id;
	e.n.frame = e.frame;
	*ret = e;
	e = (struct entry){0};
	return 0;
}

/* What waits to be appended together. */
struct batch {
	struct ledger_writer *writer;
	struct entry *entries;
	size_t count, room, bytes;
	uint64_t first; /* line of the first */
};

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		entry_finish(&b->entries[i]);
	b->count = b->bytes = 0;
}

static void batch_finish(struct batch *b)
{
	batch_clear(b);
	free(b->entries);
}

static int batch_flush(struct batch *b, bool is_block, struct error *err)
{
	autofree struct ledger_new *list = mem_array(b->count + 1, sizeof(*list));
	size_t count = b->count;

	for (size_t i = 0; i < count; i++)
		list[i] = b->entries[i].n;
	if (ledger_append(b->writer, list, count, is_block, err) < 0)
		return error_wrap(err, "from line %" PRIu64, b->first);
	batch_clear(b);
	return 0;
}

static void batch_add(struct batch *b, struct entry e, uint64_t line)
{
	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->entries = mem_grow(b->entries, b->room, sizeof(*b->entries));
	}
	if (b->count == 0)
		b->first = line;
	b->bytes += e.n.payload_len;
	b->entries[b->count++] = e;
}

/* What a batch may hold in memory before it goes, and what a block may hold at all. */
enum { BATCH_BYTES = 16 * 1024 * 1024, BLOCK_BYTES = 256 * 1024 * 1024 };

static bool same_block(const struct batch *b, const struct entry *e)
{
	const char *before = b->entries[b->count - 1].block;

	return before && e->block ? strcmp(before, e->block) == 0 : before == e->block;
}

/* Of an ActiveGraph run what ours cannot hold: frames, and times of day that went back. */
static void fit(const struct ledger_writer *w, struct entry *e, uint64_t *time_ns)
{
	if (ledger_kind(w->ledger) != LEDGER_OURS)
		return;
	e->n.frame = NULL;
	if (e->n.time_ns < *time_ns)
		e->n.time_ns = 0;
	else
		*time_ns = e->n.time_ns;
}

/* Lines into batches; is_import: events say of which block they are. */
static int append_all(struct batch *b, struct reader *r, size_t size, bool is_block, bool is_import,
	uint64_t *ret_count, struct error *err)
{
	uint64_t count = 0, time_ns = 0;
	const char *line;
	size_t len;
	int got;

	while ((got = next_line(r, &line, &len, err)) > 0) {
		struct entry e = {0};
		bool is_full =
			b->count > 0 && !is_block && (b->count >= size || b->bytes > BATCH_BYTES);

		if (parse(line, len, is_import, &e, err) < 0)
			return error_wrap(err, "line %" PRIu64, r->line);
		if (is_import)
			fit(b->writer, &e, &time_ns);
		if (b->count > 0 && is_import && b->entries[b->count - 1].block)
			is_full = !same_block(b, &e);
		else if (b->count > 0 && e.block)
			is_full = true;
		if (!is_full && b->bytes > BLOCK_BYTES) {
			entry_finish(&e);
			return error_set(
				err, ERR_LIMIT, "a block of more than %d bytes", BLOCK_BYTES);
		}
		if (is_full && batch_flush(b, b->entries[0].block != NULL, err) < 0) {
			entry_finish(&e);
			return -1;
		}
		batch_add(b, e, r->line);
		count++;
	}
	if (got < 0 || (b->count > 0 && batch_flush(b, is_block || b->entries[0].block, err) < 0))
		return -1;
	*ret_count = count;
	return 0;
}

int ledger_append_lines(struct ledger_writer *w, int fd, size_t batch, bool is_block,
	uint64_t *ret_count, struct error *err)
{
	struct batch CLEANUP(batch_finish) b = {.writer = w};
	struct reader r = {.fd = fd};
	int result = append_all(&b, &r, batch, is_block, false, ret_count, err);

	bytes_finish(&r.data);
	return result;
}

/* The first line: what the run was. */
static int read_head(struct reader *r, char **ret_label, char **ret_goal, struct error *err)
{
	autofree char *format = NULL;
	struct raw head;
	const char *line;
	size_t len;
	int got = next_line(r, &line, &len, err);

	if (got < 0)
		return -1;
	if (got == 0)
		return error_set(err, ERR_FORMAT, "there is nothing to import");
	if (raw_check(line, len, RAW_STRICT, &head, err) < 0)
		return error_wrap(err, "line 1");
	format = raw_find_string(head, "format");
	if (!format || strcmp(format, FORMAT) != 0)
		return error_set(err, ERR_FORMAT,
			"line 1: this is no export of a run (its format is not " FORMAT ")");
	*ret_label = raw_find_string(head, "label");
	*ret_goal = raw_find_string(head, "goal");
	return 0;
}

int ledger_import(
	struct ledger *l, int fd, char ret_id[LEDGER_ULID], uint64_t *ret_count, struct error *err)
{
	auto_ledger_hold struct ledger *hold = NULL;
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct batch CLEANUP(batch_finish) b = {0};
	autofree char *label = NULL, *goal = NULL;
	struct reader r = {.fd = fd};
	char id[LEDGER_ULID];
	int result = read_head(&r, &label, &goal, err);

	if (result == 0)
		result = ledger_hold(l, &hold, err);
	if (result == 0)
		result = ledger_run_new(l, label, goal, id, err);
	if (result == 0)
		result = ledger_writer_open(l, id, &w, err);
	b.writer = w;
	if (result == 0)
		result = append_all(&b, &r, 1000, false, true, ret_count, err);
	bytes_finish(&r.data);
	if (result < 0 || ledger_commit(&hold, err) < 0)
		return -1;
	memcpy(ret_id, id, sizeof(id));
	return 0;
}
