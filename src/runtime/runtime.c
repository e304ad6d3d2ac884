/* SPDX-License-Identifier: Apache-2.0 */
/* Behaviours on a run's events: see runtime.h. */
#include "runtime/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "codec/json.h"
#include "codec/raw.h"
#include "ledger/lines.h"

static void clear_item(struct item *i)
{
	free(i->texts);
}

/* A text's copy at *at, which moves behind it. */
static const char *lay(char **at, const char *text, size_t len)
{
	char *start = *at;

	if (!text)
		return NULL;
	memcpy(start, text, len);
	start[len] = '\0';
	*at += len + 1;
	return start;
}

static size_t len_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static struct item copy_item(const struct ledger_event *e)
{
	size_t id = strlen(e->id), type = strlen(e->type), actor = len_of(e->actor),
	       cause = len_of(e->caused_by);
	struct item i = {
		.e = *e, .texts = mem_alloc(id + type + actor + cause + e->payload_len + 5)};
	char *at = i.texts;

	i.e.id = lay(&at, e->id, id);
	i.e.type = lay(&at, e->type, type);
	i.e.actor = lay(&at, e->actor, actor);
	i.e.caused_by = lay(&at, e->caused_by, cause);
	i.e.payload = lay(&at, e->payload, e->payload_len);
	i.e.frame = NULL;
	return i;
}

/* Takes the item. */
static void push(struct items *q, struct item i)
{
	if (q->first > 64 && q->first > q->count / 2) {
		memmove(q->list, q->list + q->first, (q->count - q->first) * sizeof(*q->list));
		q->count -= q->first;
		q->first = 0;
	}
	if (q->count == q->room) {
		q->room = q->room ? 2 * q->room : 16;
		q->list = mem_grow(q->list, q->room, sizeof(*q->list));
	}
	q->list[q->count++] = i;
}

void runtime_queue(struct runtime *r, const struct ledger_event *e)
{
	push(&r->queue, copy_item(e));
}

static void clear_items(struct items *q)
{
	for (size_t i = q->first; i < q->count; i++)
		clear_item(&q->list[i]);
	q->first = q->count = 0;
}

struct runtime *runtime_new(const struct runtime_log *log, uint64_t budget)
{
	struct runtime *r = mem_alloc(sizeof(*r));

	r->log = *log;
	r->budget = budget;
	r->graph = graph_new();
	return r;
}

void runtime_free(struct runtime *r)
{
	if (!r)
		return;
	clear_items(&r->queue);
	clear_items(&r->pending);
	free(r->queue.list);
	free(r->pending.list);
	for (size_t i = 0; i < r->subscription_count; i++) {
		free(r->subscriptions[i].name);
		free(r->subscriptions[i].type);
	}
	free(r->subscriptions);
	free(r->done);
	graph_free(r->graph);
	if (r->log.finish)
		r->log.finish(r->log.context);
	free(r);
}

void runtime_cleanup(struct runtime **r)
{
	runtime_free(*r);
	*r = NULL;
}

const struct graph *runtime_graph(const struct runtime *r)
{
	return r->graph;
}

uint64_t runtime_appended(const struct runtime *r)
{
	return r->appended;
}

uint64_t runtime_failures(const struct runtime *r)
{
	return r->failures;
}

size_t runtime_queued(const struct runtime *r)
{
	return r->queue.count - r->queue.first;
}

void runtime_subscribe(struct runtime *r, const char *name, const char *type,
	runtime_behavior *fire, void *context)
{
	r->subscriptions =
		mem_grow(r->subscriptions, r->subscription_count + 1, sizeof(*r->subscriptions));
	r->subscriptions[r->subscription_count++] = (struct subscription){.name = mem_strdup(name),
		.type = mem_strdup(type),
		.fire = fire,
		.context = context};
}

static bool matches(const struct subscription *s, const char *type)
{
	size_t len = strlen(s->type);

	if (strcmp(s->type, "*") == 0)
		return true;
	if (len > 2 && strcmp(s->type + len - 2, ".*") == 0)
		return strncmp(s->type, type, len - 1) == 0;
	return strcmp(s->type, type) == 0;
}

/* The runtime's own events, which nobody is given. */
static bool is_lifecycle(const char *type)
{
	return str_has_prefix(type, "behavior.") || str_has_prefix(type, "relation_behavior.") ||
	       str_has_prefix(type, "runtime.");
}

/* Loading. */

/* Nearly always the first one: they were dealt with in this order. */
static void drop_done(struct runtime *r, const struct ledger_event *e)
{
	autofree char *id = raw_find_string((struct raw){e->payload, e->payload_len}, "event_id");
	struct items *q = &r->queue;
	size_t at = q->first;

	/* Every behaviour of an event tells twice that it has dealt with it. */
	if (!id || (r->done && strcmp(r->done, id) == 0))
		return;
	while (at < q->count && strcmp(q->list[at].e.id, id) != 0)
		at++;
	free(r->done);
	r->done = take_ptr(id);
	if (at == q->count)
		return;
	clear_item(&q->list[at]);
	memmove(q->list + q->first + 1, q->list + q->first, (at - q->first) * sizeof(*q->list));
	q->first++;
}

/* What is still to be done after this event: all since the last idle mark that nobody dealt with.
 */
static void requeue(struct runtime *r, const struct ledger_event *e)
{
	if (strcmp(e->type, "runtime.idle") == 0)
		clear_items(&r->queue);
	else if (str_has_prefix(e->type, "behavior.") ||
		 str_has_prefix(e->type, "relation_behavior."))
		drop_done(r, e);
	else if (!is_lifecycle(e->type) && !(e->actor && str_has_prefix(e->actor, "promote:")))
		runtime_queue(r, e);
}

int runtime_load(struct runtime *r, struct error *err)
{
	struct ledger_event e;
	int got;

	if (runtime_load_state(r, err) < 0)
		return -1;
	while ((got = r->log.next(r->log.context, &e, err)) > 0) {
		if (graph_apply(r->graph, &e, err) < 0)
			return -1;
		requeue(r, &e);
		r->seq = e.seq;
		r->time_ns = e.time_ns;
	}
	if (got < 0)
		return -1;
	/* Events name their causes before the log has given them ids. */
	r->number = r->log.number(r->log.context);
	return 0;
}

/* Appending. */

int runtime_flush(struct runtime *r, struct error *err)
{
	size_t count = r->pending.count - r->pending.first;
	autofree struct ledger_new *list = mem_array(count + 1, sizeof(*list));
	const struct item *items = r->pending.list + r->pending.first;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		list[i] = (struct ledger_new){.type = items[i].e.type,
			.payload = items[i].e.payload,
			.payload_len = items[i].e.payload_len,
			.actor = items[i].e.actor,
			.caused_by = items[i].e.caused_by,
			.time_ns = items[i].e.time_ns};
	if (r->log.append(r->log.context, list, count, false, err) < 0)
		return -1;
	if (r->log.number(r->log.context) != r->number)
		return error_set(
			err, ERR_BUSY, "the log gave another id than %.60s", items[count - 1].e.id);
	clear_items(&r->pending);
	return 0;
}

/* Into the graph and among those to be written; within the budget or not. */
static int take_event(
	struct runtime *r, const struct ledger_new *n, char ret_id[RUNTIME_ID], struct error *err)
{
	char id[32];
	struct ledger_event e = {.seq = r->seq + 1,
		.id = id,
		.type = n->type,
		.actor = n->actor,
		.caused_by = n->caused_by,
		.payload = n->payload,
		.payload_len = n->payload_len,
		.time_ns = n->time_ns > r->time_ns ? n->time_ns : r->time_ns};

	snprintf(id, sizeof(id), "evt_%03" PRIu64, r->number + 1);
	if (graph_apply(r->graph, &e, err) < 0)
		return -1;
	r->seq++;
	r->number++;
	r->time_ns = e.time_ns;
	r->appended++;
	if (!is_lifecycle(e.type))
		runtime_queue(r, &e);
	push(&r->pending, copy_item(&e));
	if (ret_id)
		memcpy(ret_id, id, strlen(id) + 1);
	return 0;
}

int runtime_emit_as(
	struct runtime *r, const struct ledger_new *e, char ret_id[RUNTIME_ID], struct error *err)
{
	struct raw payload;

	if (!e->type || !*e->type || strlen(e->type) > LEDGER_ID_MAX)
		return error_set(err, ERR_FORMAT, "an event without a type, or with a long one");
	if (raw_check(e->payload, e->payload_len, RAW_STRICT, &payload, err) < 0)
		return error_wrap(err, "the payload of %.60s", e->type);
	if (raw_kind(payload) != '{')
		return error_set(err, ERR_FORMAT, "a payload has to be a JSON object");
	if (r->budget && r->appended >= r->budget) {
		r->is_spent = true;
		return error_set(err, ERR_LIMIT, "no more than %" PRIu64 " events may be appended",
			r->budget);
	}
	return take_event(r, e, ret_id, err);
}

int runtime_emit(struct runtime *r, const char *type, const char *payload, char ret_id[RUNTIME_ID],
	struct error *err)
{
	struct ledger_new n = {.type = type,
		.payload = payload,
		.payload_len = strlen(payload),
		.actor = r->actor,
		.caused_by = r->cause};

	return runtime_emit_as(r, &n, ret_id, err);
}

static char *quoted(const char *s)
{
	auto_json json_t *value = json_str(s);

	return json_text(value);
}

/* {"created_by": ..., "caused_by_event": ...} */
static char *provenance_of(const struct runtime *r)
{
	autofree char *by = quoted(r->actor ? r->actor : "runtime");
	autofree char *cause = r->cause ? quoted(r->cause) : mem_strdup("null");

	return str_format("{\"created_by\": %s, \"caused_by_event\": %s}", by, cause);
}

/* JSON that goes into other JSON: an object, else ERR_FORMAT. */
static int check_object(const char *what, const char *text, struct error *err)
{
	struct raw value;

	if (raw_check(text, strlen(text), RAW_STRICT, &value, err) < 0)
		return error_wrap(err, "%s", what);
	return raw_kind(value) == '{' ? 0
				      : error_set(err, ERR_FORMAT, "%s has to be an object", what);
}

int runtime_add_object(struct runtime *r, const char *type, const char *data,
	char ret_id[RUNTIME_ID], struct error *err)
{
	autofree char *id =
		str_format("%.150s#%" PRIu64, type, graph_counter(r->graph, GRAPH_OBJECT) + 1);
	autofree char *quoted_id = quoted(id), *quoted_type = quoted(type);
	autofree char *from = provenance_of(r), *payload = NULL;

	if (strlen(type) > 150)
		return error_set(err, ERR_LIMIT, "the type of an object has at most 150 bytes");
	if (check_object("data", data, err) < 0)
		return -1;
	payload = str_format("{\"object\": {\"id\": %s, \"type\": %s, \"data\": %s, \"version\": "
			     "1, \"provenance\": %s}, \"id\": %s}",
		quoted_id, quoted_type, data, from, quoted_id);
	if (runtime_emit(r, "object.created", payload, NULL, err) < 0)
		return -1;
	if (ret_id)
		memcpy(ret_id, id, strlen(id) + 1);
	return 0;
}

int runtime_remove_object(struct runtime *r, const char *id, struct error *err)
{
	autofree char *text = quoted(id), *payload = str_format("{\"id\": %s}", text);

	if (!graph_find(r->graph, GRAPH_OBJECT, id))
		return error_set(err, ERR_MISSING, "no object '%.100s'", id);
	return runtime_emit(r, "object.removed", payload, NULL, err);
}

int runtime_relate(struct runtime *r, const char *type, const char *source, const char *target,
	char ret_id[RUNTIME_ID], struct error *err)
{
	autofree char *id =
		str_format("rel_%03" PRIu64, graph_counter(r->graph, GRAPH_RELATION) + 1);
	autofree char *from = quoted(source), *to = quoted(target), *kind = quoted(type);
	autofree char *made = provenance_of(r), *payload = NULL;

	if (!graph_find(r->graph, GRAPH_OBJECT, source) ||
		!graph_find(r->graph, GRAPH_OBJECT, target))
		return error_set(
			err, ERR_MISSING, "no object '%.100s' or '%.100s'", source, target);
	payload = str_format("{\"relation\": {\"id\": \"%s\", \"source\": %s, \"target\": %s, "
			     "\"type\": %s, \"data\": {}, \"provenance\": %s}, \"id\": \"%s\", "
			     "\"source\": %s, \"target\": %s}",
		id, from, to, kind, made, id, from, to);
	if (runtime_emit(r, "relation.created", payload, NULL, err) < 0)
		return -1;
	if (ret_id)
		memcpy(ret_id, id, strlen(id) + 1);
	return 0;
}

int runtime_patch(
	struct runtime *r, const char *target, const char *op, const char *value, struct error *err)
{
	const struct graph_node *there = graph_find(r->graph, GRAPH_OBJECT, target);
	autofree char *by = quoted(r->actor ? r->actor : "runtime"), *to = quoted(target);
	autofree char *verb = quoted(op), *payload = NULL;
	uint64_t number = graph_counter(r->graph, GRAPH_PATCH) + 1;

	if (!there)
		return error_set(err, ERR_MISSING, "no object '%.100s'", target);
	if (check_object("the value", value, err) < 0)
		return -1;
	payload = str_format("{\"patch\": {\"id\": \"patch_%03" PRIu64
			     "\", \"target\": %s, \"op\": %s, \"value\": %s, \"expected_version\": "
			     "%" PRIu64 ", \"proposed_by\": %s}, \"target\": %s}",
		number, to, verb, value, there->version, by, to);
	return runtime_emit(r, "patch.applied", payload, NULL, err);
}

/* Dispatch. */

/* An event of the runtime's own: behavior.* and runtime.*. */
static int tell(
	struct runtime *r, const char *type, json_t *payload, const char *cause, struct error *err)
{
	auto_json json_t *owned = payload;
	autofree char *text = json_text(owned);
	struct ledger_new n = {.type = type,
		.payload = text,
		.payload_len = strlen(text),
		.actor = "runtime",
		.caused_by = cause};

	return runtime_emit_as(r, &n, NULL, err);
}

static json_t *about(const struct subscription *s, const struct ledger_event *e)
{
	json_t *o = json_object();

	json_put(o, "behavior", json_str(s->name));
	json_put(o, "event_id", json_str(e->id));
	return o;
}

static int fire_one(struct runtime *r, const struct subscription *s, const struct ledger_event *e,
	struct error *err)
{
	struct error why = {0};
	json_t *o;
	int result;

	if (tell(r, "behavior.started", about(s, e), e->id, err) < 0)
		return -1;
	r->actor = s->name;
	r->cause = e->id;
	result = s->fire(s->context, r, e, &why);
	r->actor = r->cause = NULL;
	/* Who runs into the budget has not failed by itself, and nothing goes on. */
	if (r->is_spent)
		return error_set(err, ERR_LIMIT, "no more than %" PRIu64 " events may be appended",
			r->budget);
	o = about(s, e);
	if (result == 0)
		return tell(r, "behavior.completed", o, e->id, err);
	r->failures++;
	json_put(o, "exception_type", json_str("error"));
	json_put(o, "message", json_bytes(why.msg, strlen(why.msg)));
	return tell(r, "behavior.failed", o, e->id, err);
}

static int dispatch(struct runtime *r, const struct ledger_event *e, struct error *err)
{
	/* By index: a behaviour may subscribe another, which moves the list. */
	for (size_t i = 0; i < r->subscription_count; i++) {
		struct subscription s = r->subscriptions[i];

		if (matches(&s, e->type) && fire_one(r, &s, e, err) < 0)
			return -1;
	}
	return runtime_flush(r, err);
}

/* The last word of a spent budget, which no budget holds back. */
static int tell_spent(struct runtime *r, struct error *err)
{
	autofree char *text = str_format("{\"exhausted_by\": \"max_events\", \"snapshot\": "
					 "{\"events\": %" PRIu64 "}}",
		r->appended);
	struct ledger_new n = {.type = "runtime.budget_exhausted",
		.payload = text,
		.payload_len = strlen(text),
		.actor = "runtime"};

	if (take_event(r, &n, NULL, err) < 0 || runtime_flush(r, err) < 0)
		return -1;
	return error_set(
		err, ERR_LIMIT, "no more than %" PRIu64 " events may be appended", r->budget);
}

int runtime_drain(struct runtime *r, struct error *err)
{
	while (r->queue.first < r->queue.count) {
		struct item i = r->queue.list[r->queue.first++];
		int result = dispatch(r, &i.e, err);

		clear_item(&i);
		if (result < 0)
			return r->is_spent ? tell_spent(r, err) : -1;
	}
	if (tell(r, "runtime.idle", json_object(), NULL, err) < 0)
		return r->is_spent ? tell_spent(r, err) : -1;
	return runtime_flush(r, err);
}
