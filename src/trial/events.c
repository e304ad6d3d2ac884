/* SPDX-License-Identifier: Apache-2.0 */
/* What a trial appends, and what behaviors make of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/raw.h"
#include "trial/inside.h"

enum {
	EVENTS_BYTES_MAX = 256 << 20, /* kept until they are appended */
	REPLY_MAX = 512 * 1024,	      /* bytes of one answer; one event always fits */
	REPLY_EVENTS = 100,
	LOOK_BACK = 2000, /* a run that went on for longer is taken to be idle */
	LOOK_FIRST = 64,
	CLOCK_EVERY = 1024,
};
#define EXECUTOR "trial_executor"

static int over_budget(struct trial *t)
{
	return trial_over(t, TRIAL_LIMITS_EXCEEDED,
		"the event budget of %" PRIu64 " is used up (--max-events)",
		t->spec->limits.max_events);
}

static void put(
	struct trial *t, const char *type, char *payload, const char *actor, const char *caused_by)
{
	struct waiting *e;

	if ((t->count & (t->count - 1)) == 0)
		t->events = mem_grow(t->events, t->count ? t->count * 2 : 1, sizeof(*t->events));
	e = &t->events[t->count++];
	*e = (struct waiting){.id = str_format("evt_%03" PRIu64, t->next_number++),
		.type = mem_strdup(type),
		.payload = payload,
		.actor = mem_strdup(actor),
		.caused_by = caused_by ? mem_strdup(caused_by) : NULL};
	t->bytes += strlen(payload) + strlen(type);
}

int trial_check_payload(const char *payload, struct error *err)
{
	size_t len = strlen(payload);
	struct raw ignored;

	if (len > LEDGER_PAYLOAD_MAX)
		return error_set(err, ERR_LIMIT, "a payload of %zu bytes; the limit is %d", len,
			LEDGER_PAYLOAD_MAX);
	return raw_check(payload, len, RAW_STRICT, &ignored, err) < 0 ? error_wrap(err, "a payload")
								      : 0;
}

int trial_append(struct trial *t, const char *type, char *payload, const char *actor,
	const char *caused_by, const char **ret_id)
{
	uint64_t max = t->spec->limits.max_events;

	if (max && t->count >= max) {
		free(payload);
		return over_budget(t);
	}
	if (t->bytes + strlen(payload) > EVENTS_BYTES_MAX) {
		free(payload);
		return trial_over(t, TRIAL_LIMITS_EXCEEDED, "its events have more than %d bytes",
			EVENTS_BYTES_MAX);
	}
	put(t, type, payload, actor, caused_by);
	if (ret_id)
		*ret_id = t->events[t->count - 1].id;
	return 0;
}

static json_t *copy_list(const json_t *surface, const char *key)
{
	json_t *v = json_object_get(surface, key);

	return json_is_array(v) ? json_incref(v) : json_array();
}

static char *loaded_payload(const struct player *p)
{
	auto_json json_t *o = json_object();
	const json_t *pack = json_object_get(p->manifest, "pack"), *item;
	json_t *names = json_array();
	size_t i;

	json_array_foreach(json_object_get(p->surface, "behaviors"), i, item)
	{
		autofree char *name = str_format("%s.%s", p->name, trial_text(item, "name") ?: "");

		json_add(names, json_str(name));
	}
	json_put(o, "name", json_str(p->name));
	json_put(o, "version", json_str(trial_text(p->surface, "version") ?: ""));
	json_put(o, "description", json_str(trial_text(pack, "description") ?: ""));
	json_put(o, "object_types", copy_list(p->surface, "object_types"));
	json_put(o, "relation_types", copy_list(p->surface, "relation_types"));
	json_put(o, "behaviors", names);
	json_put(o, "tools", copy_list(p->surface, "tools"));
	json_put(o, "policies", json_array());
	json_put(o, "prompts", json_array());
	json_put(o, "settings", json_object());
	if (json_array_size(json_object_get(p->surface, "capabilities")))
		json_put(o, "capabilities", copy_list(p->surface, "capabilities"));
	json_put(o, "bundle_hash", json_str(p->bundle.digest));
	return json_dumps(o, 0);
}

/* The behavior of a pack that is called on a type, from *at on; NULL: no more. */
static const char *next_behavior(const struct player *p, const char *type, size_t *at)
{
	const json_t *list = json_object_get(p->surface, "behaviors"), *on;
	size_t i;

	for (; *at < json_array_size(list); ++*at) {
		const json_t *b = json_array_get(list, *at);

		json_array_foreach(json_object_get(b, "on"), i,
			on) if (strcmp(json_string_value(on), type) == 0)
		{
			++*at;
			return trial_text(b, "name") ?: "";
		}
	}
	return NULL;
}

static bool is_wanted(const struct trial *t, const char *type)
{
	static const char *const never[] = {"runtime.", "behavior.", "relation_behavior."};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (str_has_prefix(type, never[i]))
			return false;
	for (size_t i = 0; i < t->spec->pack_count; i++) {
		size_t at = 0;

		if (next_behavior(&t->players[i], type, &at))
			return true;
	}
	return false;
}

/* What was gathered behind the last idle mark. */
struct left {
	json_t *seqs;  /* {"ID": seq} of what behaviors are called on */
	json_t *taken; /* {"ID": true} of what one has been called with */
};

static void left_finish(struct left *l)
{
	json_decref(l->seqs);
	json_decref(l->taken);
}

static void look_at(const struct trial *t, const struct ledger_event *e, struct left *l)
{
	bool is_mark = str_has_prefix(e->type, "behavior.") ||
		       str_has_prefix(e->type, "relation_behavior.");

	if (is_mark) {
		auto_json json_t *payload = json_loadb(e->payload, e->payload_len, 0, NULL);
		const char *id = trial_text(payload, "event_id");

		if (id)
			json_put(l->taken, id, json_true());
		return;
	}
	if (is_wanted(t, e->type) && !(e->actor && str_has_prefix(e->actor, "promote:")))
		json_put(l->seqs, e->id, json_integer((json_int_t)e->seq));
}

/* From this seq on: 1 when an idle mark was among it, behind which it begins. */
static int gather(struct trial *t, uint64_t from, struct left *l, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	int found = 0, r;

	if (ledger_events(t->ledger, t->report->fork_run_id, from, 0, &c, err) < 0)
		return -1;
	while ((r = ledger_next(c, &e, err)) > 0) {
		if (strcmp(e.type, "runtime.idle") == 0) {
			found = 1;
			json_object_clear(l->seqs);
			json_object_clear(l->taken);
		} else {
			look_at(t, &e, l);
		}
	}
	return r < 0 ? -1 : found;
}

/* The fork's events that nobody has taken: behind the last idle mark, looked for from the end. */
static int requeue(struct trial *t, struct error *err)
{
	for (uint64_t look = LOOK_FIRST;; look *= 8) {
		struct left CLEANUP(left_finish) l = {json_object(), json_object()};
		uint64_t span = look < LOOK_BACK ? look : LOOK_BACK;
		uint64_t from = t->shared > span ? t->shared - span + 1 : 1;
		const char *id;
		json_t *seq;
		int found = gather(t, from, &l, err);

		if (found < 0)
			return STEP_ERROR;
		if (!found && from > 1 && span < LOOK_BACK)
			continue;
		if (!found && from > 1)
			return 0;
		t->old = mem_array(json_object_size(l.seqs) + 1, sizeof(*t->old));
		json_object_foreach(l.seqs, id, seq) if (!json_object_get(l.taken, id))
			t->old[t->old_count++] = (uint64_t)json_integer_value(seq);
		return 0;
	}
}

int trial_load(struct trial *t, struct error *err)
{
	int r = requeue(t, err);

	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++) {
		autofree char *payload = loaded_payload(&t->players[i]);
		struct error why;

		/* What the code says of itself is in it. */
		if (trial_check_payload(payload, &why) < 0)
			return trial_over(t, TRIAL_MATERIALIZATION_FAILED, "pack '%s': %s",
				t->spec->packs[i].dir, why.msg);
		r = trial_append(t, "pack.loaded", take_ptr(payload), "runtime", NULL, NULL);
	}
	return r;
}

/* An event as packs see it. */
struct seen {
	uint64_t seq;
	const char *id, *type, *actor, *caused_by, *payload;
	size_t payload_len;
};

static void put_text(struct bytes *out, const char *key, const char *text)
{
	auto_json json_t *v = text ? json_str(text) : json_null();
	autofree char *dumped = json_dumps(v, JSON_ENCODE_ANY);
	autofree char *member = str_format(",\"%s\":%s", key, dumped ? dumped : "null");

	bytes_put(out, member, strlen(member));
}

static void put_event(struct bytes *out, const struct seen *e)
{
	autofree char *head = str_format("{\"seq\":%" PRIu64, e->seq);
	size_t from;

	bytes_put(out, head, strlen(head));
	put_text(out, "id", e->id);
	put_text(out, "type", e->type);
	put_text(out, "actor", e->actor);
	put_text(out, "caused_by", e->caused_by);
	bytes_put(out, ",\"payload\":", 11);
	from = out->len;
	bytes_put(out, e->payload, e->payload_len);
	/* Between its tokens there may be newlines, and nowhere else. */
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
	bytes_put_u8(out, '}');
}

static struct seen seen_waiting(const struct trial *t, size_t i)
{
	const struct waiting *e = &t->events[i];

	return (struct seen){t->shared + 1 + i, e->id, e->type, e->actor, e->caused_by, e->payload,
		strlen(e->payload)};
}

static struct seen seen_old(const struct ledger_event *e)
{
	return (struct seen){
		e->seq, e->id, e->type, e->actor, e->caused_by, e->payload, e->payload_len};
}

static char *behavior_payload(const char *name, const char *event_id, const char *failure)
{
	auto_json json_t *o = json_object();

	json_put(o, "behavior", json_str(name));
	json_put(o, "event_id", json_str(event_id));
	if (failure) {
		size_t kind = strcspn(failure, ":");
		autofree char *type = mem_strndup(failure, failure[kind] ? kind : 0);

		json_put(o, "exception_type", json_str(type));
		json_put(o, "message", json_str(failure));
		json_put(o, "traceback", json_str(""));
	}
	return json_dumps(o, 0);
}

/* One behavior for one event: line is what it is told, id the event's. */
static int call_behavior(struct trial *t, struct player *p, const char *behavior, const char *line,
	const char *id, struct error *err)
{
	autofree char *name = str_format("%s.%s", p->name, behavior), *members = NULL;
	auto_json json_t *quoted = json_str(behavior);
	autofree char *word = json_dumps(quoted, JSON_ENCODE_ANY);
	const struct call c = {.player = p, .actor = name, .caused_by = id};
	int r = trial_append(
		t, "behavior.started", behavior_payload(name, id, NULL), "runtime", id, NULL);

	if (r != 0)
		return r;
	members = str_format(",\"behavior\":%s,\"event\":%s", word, line);
	r = trial_call(t, &c, "behavior", members, NULL, err);
	if (r == 0)
		return trial_append(t, "behavior.completed", behavior_payload(name, id, NULL),
			"runtime", id, NULL);
	if (r == STEP_FAILED)
		return trial_append(t, "behavior.failed", behavior_payload(name, id, t->said),
			"runtime", id, NULL);
	return r;
}

/* Every behavior of every pack that is called on this event. */
static int dispatch(struct trial *t, const struct seen *e, struct error *err)
{
	auto_bytes struct bytes line = {0};
	autofree char *id = mem_strdup(e->id), *type = mem_strdup(e->type);

	if (!is_wanted(t, type))
		return 0;
	put_event(&line, e);
	bytes_put_u8(&line, 0);
	for (size_t i = 0; i < t->spec->pack_count; i++) {
		const char *behavior;
		size_t at = 0;

		while ((behavior = next_behavior(&t->players[i], type, &at))) {
			int r = call_behavior(
				t, &t->players[i], behavior, (const char *)line.data, id, err);

			if (r != 0)
				return r;
		}
	}
	return 0;
}

static int dispatch_old(struct trial *t, uint64_t seq, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	struct seen seen;

	if (ledger_events(t->ledger, t->report->fork_run_id, seq, seq, &c, err) < 0 ||
		ledger_next(c, &e, err) <= 0)
		return STEP_ERROR;
	seen = seen_old(&e);
	return dispatch(t, &seen, err);
}

int trial_idle(struct trial *t, struct error *err)
{
	int r = 0;

	while (r == 0 && t->old_taken < t->old_count)
		r = dispatch_old(t, t->old[t->old_taken++], err);
	while (r == 0 && t->taken < t->count) {
		struct seen e = seen_waiting(t, t->taken++);

		r = dispatch(t, &e, err);
	}
	if (r == 0 && t->count && strcmp(t->events[t->count - 1].type, "runtime.idle") != 0) {
		r = trial_append(t, "runtime.idle", mem_strdup("{}"), "runtime", NULL, NULL);
		t->taken = t->count;
	}
	return r;
}

/* An answer that is being put together. */
struct reply {
	struct bytes text;
	uint64_t after, limit, count, looked;
	const char *type; /* NULL: any */
	bool is_full;
};

static void reply_add(struct reply *r, const struct seen *e)
{
	r->after = e->seq;
	if (r->type && strcmp(r->type, e->type) != 0)
		return;
	if (r->count++)
		bytes_put_u8(&r->text, ',');
	put_event(&r->text, e);
	r->is_full = r->count >= r->limit || r->text.len > REPLY_MAX;
}

/* The fork's past; a long one may take longer than there is time. */
static int reply_old(struct trial *t, struct reply *r, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct ledger_event e;
	int found = 0;

	if (ledger_events(t->ledger, t->report->fork_run_id, r->after + 1, 0, &c, err) < 0)
		return STEP_ERROR;
	while (!r->is_full && (found = ledger_next(c, &e, err)) > 0) {
		struct seen seen = seen_old(&e);

		reply_add(r, &seen);
		if (++r->looked % CLOCK_EVERY == 0 && t->deadline_ns &&
			clock_host_ns() > t->deadline_ns)
			return trial_out_of_time(t);
	}
	return found < 0 ? STEP_ERROR : 0;
}

static uint64_t number_of(const json_t *o, const char *key, uint64_t otherwise)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v)
								: otherwise;
}

int trial_events_reply(struct trial *t, const json_t *request, char **ret, struct error *err)
{
	struct reply r = {.after = number_of(request, "after", 0),
		.limit = number_of(request, "limit", REPLY_EVENTS),
		.type = trial_text(request, "type")};
	struct bytes CLEANUP(bytes_finish) out = {0};
	autofree char *tail = NULL;
	int step = 0;

	if (r.limit == 0 || r.limit > REPLY_EVENTS)
		r.limit = REPLY_EVENTS;
	if (r.after < t->shared)
		step = reply_old(t, &r, err);
	for (size_t i = r.after > t->shared ? r.after - t->shared : 0;
		step == 0 && !r.is_full && i < t->count; i++) {
		struct seen e = seen_waiting(t, i);

		reply_add(&r, &e);
	}
	bytes_put(&out, "{\"reply\":{\"events\":[", 20);
	if (r.text.len)
		bytes_put(&out, r.text.data, r.text.len);
	bytes_finish(&r.text);
	tail = str_format(
		"],\"after\":%" PRIu64 ",\"more\":%s}}\n", r.after, r.is_full ? "true" : "false");
	bytes_put(&out, tail, strlen(tail) + 1);
	*ret = mem_take(&out.data);
	return step;
}

/* The trial's own marks, which count for nobody. */
static void put_marks(struct trial *t)
{
	if (t->report->outcome != TRIAL_LIMITS_EXCEEDED)
		return;
	if (t->deadline_ns && str_has_prefix(t->report->detail, "the wall clock"))
		put(t, "trial.wall_clock_exhausted",
			str_format(
				"{\"executor\": \"native_container\", \"wall_clock_ms\": %" PRIu64
				", \"stop_position\": {\"accepted_sequence\": %zu}}",
				t->spec->limits.wall_ns / 1000000, t->count),
			EXECUTOR, NULL);
	else if (str_has_prefix(t->report->detail, "the event budget"))
		put(t, "runtime.budget_exhausted",
			str_format(
				"{\"exhausted_by\": \"max_events\", \"snapshot\": {\"max_events\": "
				"%" PRIu64 "}}",
				t->spec->limits.max_events),
			EXECUTOR, NULL);
}

/* What of the fork's own events is the trial's, as the ledger has it. */
static int read_numbers(struct trial *t, struct error *err)
{
	static const char *const marks[] = {
		"trial.wall_clock_exhausted", "runtime.budget_exhausted"};
	const char *run = t->report->fork_run_id;
	uint64_t all, failed, mark;

	if (ledger_count(t->ledger, run, t->shared + 1, NULL, &all, err) < 0 ||
		ledger_count(t->ledger, run, t->shared + 1, "behavior.failed", &failed, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (ledger_count(t->ledger, run, t->shared + 1, marks[i], &mark, err) < 0)
			return -1;
		all -= mark;
	}
	t->report->events_appended = all;
	t->report->behavior_failures = failed;
	return 0;
}

int trial_commit(struct trial *t, struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	autofree struct ledger_new *list = NULL;

	put_marks(t);
	if (t->count) {
		list = mem_array(t->count, sizeof(*list));
		for (size_t i = 0; i < t->count; i++) {
			const struct waiting *e = &t->events[i];

			list[i] = (struct ledger_new){.type = e->type,
				.payload = e->payload,
				.payload_len = strlen(e->payload),
				.actor = e->actor,
				.caused_by = e->caused_by,
				.id = e->id};
		}
		if (ledger_writer_open(t->ledger, t->report->fork_run_id, &w, err) < 0 ||
			ledger_append(w, list, t->count, false, err) < 0)
			return error_wrap(err, "append what the trial did to fork %s",
				t->report->fork_run_id);
	}
	return read_numbers(t, err);
}
