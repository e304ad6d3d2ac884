/* SPDX-License-Identifier: Apache-2.0 */
/* Objects projected from events, behaviours that append, and what a reload finds still to be done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/raw.h"
#include "runtime/runtime.h"
#include "scratch.h"

static void must_do(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->msg);
}

static struct ledger *open_it(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "ledger");
	struct ledger *l = NULL;
	struct error err = {0};

	must_do(ledger_open(path, LEDGER_MAKE, 0, &l, &err), &err);
	return l;
}

static void new_run(struct ledger *l, char id[LEDGER_ULID])
{
	struct error err = {0};

	must_do(ledger_run_new(l, NULL, NULL, id, &err), &err);
}

/* A runtime on a run, not loaded. */
static struct runtime *open_run(struct ledger *l, const char *run, uint64_t budget)
{
	struct runtime_log log;
	struct error err = {0};

	must_do(runtime_log_of_run(l, run, &log, &err), &err);
	return runtime_new(&log, budget);
}

static char *text_of(const struct runtime *r)
{
	struct bytes out = {0};

	graph_write(runtime_graph(r), &out);
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

/* The types of a run's events from a seq on, each with a space after it. */
static char *types_of(struct ledger *l, const char *run, uint64_t from)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct bytes out = {0};
	struct ledger_event e;
	struct error err = {0};

	must_do(ledger_events(l, run, from, 0, &c, &err), &err);
	while (ledger_next(c, &e, &err) > 0) {
		bytes_put(&out, e.type, strlen(e.type));
		bytes_put_u8(&out, ' ');
	}
	bytes_put_u8(&out, 0);
	return (char *)out.data;
}

static void the_same_events_give_the_same_objects(void **state)
{
	static const char wanted[] =
		"{\"objects\":[{\"data\":{\"done\":false,\"n\":1.50,\"title\":\"\\u00e9 "
		"b\"},\"id\":"
		"\"task#1\",\"provenance\":{\"caused_by_event\":null,\"created_by\":\"runtime\"},"
		"\"type\":\"task\",\"version\":2}],\"patches\":[{\"id\":\"patch_001\",\"op\":"
		"\"update\",\"state\":\"applied\",\"target\":\"task#1\",\"value\":{\"done\":false,"
		"\"n\":1.50}}],\"relations\":[]}";
	auto_ledger struct ledger *l = open_it(*state);
	struct runtime *r;
	char run[LEDGER_ULID], task[RUNTIME_ID], note[RUNTIME_ID], rel[RUNTIME_ID];
	autofree char *first = NULL, *again = NULL;
	struct error err = {0};

	new_run(l, run);
	r = open_run(l, run, 0);
	must_do(runtime_load(r, &err), &err);
	must_do(runtime_add_object(r, "task", "{\"title\": \"\\u00e9 b\", \"n\": 1}", task, &err),
		&err);
	must_do(runtime_add_object(r, "note", "{}", note, &err), &err);
	assert_string_equal(task, "task#1");
	assert_string_equal(note, "note#2");
	must_do(runtime_relate(r, "about", note, task, rel, &err), &err);
	assert_string_equal(rel, "rel_001");
	must_do(runtime_patch(r, task, "update", "{\"n\": 1.50, \"done\": false}", &err), &err);
	assert_int_equal(runtime_patch(r, task, "append", "{}", &err), -1);
	assert_int_equal(runtime_patch(r, "task#9", "update", "{}", &err), -1);
	assert_int_equal(runtime_add_object(r, "task", "[]", NULL, &err), -1);
	must_do(runtime_remove_object(r, note, &err), &err);
	assert_null(graph_find(runtime_graph(r), GRAPH_RELATION, rel));
	must_do(runtime_flush(r, &err), &err);
	first = text_of(r);
	assert_string_equal(first, wanted);
	runtime_free(r);
	r = open_run(l, run, 0);
	must_do(runtime_load(r, &err), &err);
	again = text_of(r);
	assert_string_equal(again, wanted);
	/* Ids are never given twice, though what had them is gone. */
	must_do(runtime_add_object(r, "note", "{}", note, &err), &err);
	assert_string_equal(note, "note#3");
	runtime_free(r);
}

static void a_state_reads_back_as_it_was_written(void **state)
{
	static const char text[] =
		"{\"objects\":[{\"data\":{\"a\":[1,{\"b\":null}]},\"id\":\"t#4\",\"type\":\"t\","
		"\"version\":7}],\"patches\":[{\"id\":\"patch_002\",\"op\":\"replace\",\"state\":"
		"\"rejected\",\"target\":\"t#4\",\"value\":{}}],\"relations\":[{\"data\":{},\"id\":"
		"\"rel_009\",\"source\":\"t#4\",\"target\":\"t#4\",\"type\":\"self\"}]}";
	auto_graph struct graph *g = graph_new();
	auto_bytes struct bytes out = {0};
	struct error err = {0};

	(void)state;
	must_do(graph_read(g, text, strlen(text), &err), &err);
	graph_write(g, &out);
	assert_int_equal(out.len, strlen(text));
	assert_memory_equal(out.data, text, out.len);
	assert_int_equal(graph_counter(g, GRAPH_OBJECT), 4);
	assert_int_equal(graph_counter(g, GRAPH_RELATION), 9);
}

/* Behaviours. */

struct seen {
	int fired;
	bool fails;
	struct bytes texts;
};

static int reply(void *context, struct runtime *r, const struct ledger_event *e, struct error *err)
{
	struct seen *s = context;
	autofree char *text = raw_find_string((struct raw){e->payload, e->payload_len}, "text");
	autofree char *data = str_format("{\"to\": \"%s\"}", text);

	s->fired++;
	if (s->fails)
		return error_set(err, ERR_FORMAT, "no \"reply\" today");
	return runtime_add_object(r, "reply", data, NULL, err);
}

static void say(struct runtime *r, const char *text)
{
	autofree char *payload = str_format("{\"text\": \"%s\"}", text);
	struct ledger_new n = {.type = "chat.message",
		.payload = payload,
		.payload_len = strlen(payload),
		.actor = "user"};
	struct error err = {0};

	must_do(runtime_emit_as(r, &n, NULL, &err), &err);
}

static void behaviours_append_and_replay_fires_none(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	struct runtime *r;
	struct seen s = {0};
	char run[LEDGER_ULID];
	autofree char *types = NULL;
	struct error err = {0};
	size_t count;

	new_run(l, run);
	r = open_run(l, run, 0);
	runtime_subscribe(r, "reply", "chat.*", reply, &s);
	must_do(runtime_load(r, &err), &err);
	say(r, "hello");
	must_do(runtime_drain(r, &err), &err);
	assert_int_equal(s.fired, 1);
	runtime_free(r);
	types = types_of(l, run, 0);
	assert_string_equal(types, "chat.message behavior.started object.created "
				   "behavior.completed runtime.idle ");
	r = open_run(l, run, 0);
	runtime_subscribe(r, "reply", "chat.*", reply, &s);
	must_do(runtime_load(r, &err), &err);
	assert_int_equal(s.fired, 1);
	assert_int_equal(runtime_queued(r), 0);
	free(graph_all(runtime_graph(r), GRAPH_OBJECT, &count));
	assert_int_equal(count, 1);
	runtime_free(r);
}

static void what_nobody_dealt_with_is_queued_again(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	struct runtime *r;
	struct seen s = {0};
	char run[LEDGER_ULID];
	struct error err = {0};

	new_run(l, run);
	r = open_run(l, run, 0);
	must_do(runtime_load(r, &err), &err);
	say(r, "before");
	must_do(runtime_drain(r, &err), &err);
	/* After the idle mark: one that was dealt with, one that was not, one of a promote. */
	say(r, "done");
	say(r, "open");
	must_do(runtime_emit_as(r,
			&(struct ledger_new){.type = "behavior.completed",
				.payload = "{\"behavior\":\"reply\",\"event_id\":\"evt_003\"}",
				.payload_len = 41},
			NULL, &err),
		&err);
	must_do(runtime_emit_as(r,
			&(struct ledger_new){.type = "chat.message",
				.payload = "{\"text\":\"promoted\"}",
				.payload_len = 19,
				.actor = "promote:X"},
			NULL, &err),
		&err);
	must_do(runtime_emit_as(r,
			&(struct ledger_new){.type = "runtime.budget_exhausted",
				.payload = "{}",
				.payload_len = 2},
			NULL, &err),
		&err);
	must_do(runtime_flush(r, &err), &err);
	runtime_free(r);
	r = open_run(l, run, 0);
	runtime_subscribe(r, "reply", "chat.message", reply, &s);
	must_do(runtime_load(r, &err), &err);
	assert_int_equal(runtime_queued(r), 1);
	must_do(runtime_drain(r, &err), &err);
	assert_int_equal(s.fired, 1);
	assert_non_null(graph_find(runtime_graph(r), GRAPH_OBJECT, "reply#1"));
	assert_string_equal(
		graph_find(runtime_graph(r), GRAPH_OBJECT, "reply#1")->data, "{\"to\": \"open\"}");
	runtime_free(r);
}

static void a_failure_is_an_event_and_the_next_one_goes_on(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	struct runtime *r;
	struct seen bad = {.fails = true}, good = {0};
	char run[LEDGER_ULID];
	struct error err = {0};
	uint64_t count;

	new_run(l, run);
	r = open_run(l, run, 0);
	runtime_subscribe(r, "bad", "chat.message", reply, &bad);
	runtime_subscribe(r, "good", "chat.message", reply, &good);
	must_do(runtime_load(r, &err), &err);
	say(r, "a");
	must_do(runtime_drain(r, &err), &err);
	assert_int_equal(runtime_failures(r), 1);
	assert_int_equal(bad.fired, 1);
	assert_int_equal(good.fired, 1);
	runtime_free(r);
	must_do(ledger_count(l, run, 0, "behavior.failed", &count, &err), &err);
	assert_int_equal(count, 1);
}

/* Each message brings the next. */
static int echo(void *context, struct runtime *r, const struct ledger_event *e, struct error *err)
{
	(void)context;
	(void)e;
	return runtime_emit(r, "chat.message", "{\"text\":\"again\"}", NULL, err);
}

static void the_budget_is_of_appended_events(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	struct runtime *r;
	char run[LEDGER_ULID];
	struct error err = {0};
	uint64_t count;

	new_run(l, run);
	r = open_run(l, run, 15);
	runtime_subscribe(r, "echo", "chat.message", echo, NULL);
	must_do(runtime_load(r, &err), &err);
	say(r, "a");
	assert_int_equal(runtime_drain(r, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	runtime_free(r);
	/* And the mark that says so. */
	must_do(ledger_count(l, run, 0, NULL, &count, &err), &err);
	assert_int_equal(count, 16);
	must_do(ledger_count(l, run, 16, "runtime.budget_exhausted", &count, &err), &err);
	assert_int_equal(count, 1);
	/* Without a queue too: 3000 objects by hand. */
	new_run(l, run);
	r = open_run(l, run, 15);
	must_do(runtime_load(r, &err), &err);
	for (int i = 0; i < 3000; i++)
		(void)!runtime_add_object(r, "t", "{}", NULL, &err);
	must_do(runtime_flush(r, &err), &err);
	assert_int_equal(runtime_appended(r), 15);
	runtime_free(r);
}

/*
 * A recorded segment is tried again: the fork's own history has three messages; what a candidate
 * answers is seen by emitting each of them anew, under the actor trial.replay, and draining.
 */
static void a_recorded_segment_is_replayed_in_a_fork(void **state)
{
	static const char *const words[] = {"hello", "what's on today?", "thanks"};
	auto_ledger struct ledger *l = open_it(*state);
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_ledger_run struct ledger_run fork = {0};
	struct seen s = {0};
	struct runtime *r;
	struct ledger_event e;
	char run[LEDGER_ULID], id[LEDGER_ULID];
	struct error err = {0};
	uint64_t count;

	new_run(l, run);
	r = open_run(l, run, 0);
	must_do(runtime_load(r, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		say(r, words[i]);
	must_do(runtime_drain(r, &err), &err);
	runtime_free(r);
	must_do(ledger_fork(l, run, "evt_003", "candidate", id, &err), &err);
	must_do(ledger_run_get(l, id, &fork, &err), &err);
	r = open_run(l, id, 2000);
	must_do(runtime_load(r, &err), &err);
	/* Of what the fork shares, which ends before the idle mark, nothing is fired again. */
	must_do(runtime_drain(r, &err), &err);
	runtime_subscribe(r, "candidate", "chat.message", reply, &s);
	must_do(ledger_events(l, id, 1, fork.shared, &c, &err), &err);
	while (ledger_next(c, &e, &err) > 0)
		if (strcmp(e.type, "chat.message") == 0)
			must_do(runtime_emit_as(r,
					&(struct ledger_new){.type = e.type,
						.payload = e.payload,
						.payload_len = e.payload_len,
						.actor = "trial.replay"},
					NULL, &err),
				&err);
	ledger_cursor_cleanup(&c);
	must_do(runtime_drain(r, &err), &err);
	assert_int_equal(runtime_failures(r), 0);
	assert_int_equal(s.fired, 3);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		autofree char *name = str_format("reply#%zu", i + 1);
		autofree char *data = str_format("{\"to\": \"%s\"}", words[i]);

		assert_string_equal(graph_find(runtime_graph(r), GRAPH_OBJECT, name)->data, data);
	}
	runtime_free(r);
	must_do(ledger_count(l, run, 0, NULL, &count, &err), &err);
	assert_int_equal(count, 4);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(the_same_events_give_the_same_objects),
		CASE(a_state_reads_back_as_it_was_written),
		CASE(behaviours_append_and_replay_fires_none),
		CASE(what_nobody_dealt_with_is_queued_again),
		CASE(a_failure_is_an_event_and_the_next_one_goes_on),
		CASE(the_budget_is_of_appended_events),
		CASE(a_recorded_segment_is_replayed_in_a_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
