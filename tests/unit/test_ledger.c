/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and their forks: what is appended comes back, along every lineage, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "scratch.h"

static struct ledger *open_it(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "ledger");
	struct ledger *l = NULL;
	struct error err = {0};

	if (ledger_open(path, LEDGER_MAKE, 0, &l, &err) < 0)
		fail_msg("%s", err.msg);
	return l;
}

static void new_run(struct ledger *l, char id[LEDGER_ULID])
{
	struct error err = {0};

	if (ledger_run_new(l, "label", "goal", id, &err) < 0)
		fail_msg("%s", err.msg);
}

static int append_as(struct ledger *l, const char *run, int count, bool is_block, const char *id,
	struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	autofree struct ledger_new *list = mem_array((size_t)count, sizeof(*list));

	if (ledger_writer_open(l, run, &w, err) < 0)
		return -1;
	for (int i = 0; i < count; i++)
		list[i] = (struct ledger_new){.type = i % 2 ? "odd" : "even",
			.payload = "{\"n\": 1.50}",
			.payload_len = 11,
			.id = id};
	return ledger_append(w, list, (size_t)count, is_block, err);
}

static void append(struct ledger *l, const char *run, int count)
{
	struct error err = {0};

	if (append_as(l, run, count, false, NULL, &err) < 0)
		fail_msg("%s", err.msg);
}

static void fork_at(struct ledger *l, const char *run, const char *at, char id[LEDGER_ULID])
{
	struct error err = {0};

	if (ledger_fork(l, run, at, NULL, id, &err) < 0)
		fail_msg("%s", err.msg);
}

/* The ids of a run's events, with commas between. */
static void expect_ids(struct ledger *l, const char *run, uint64_t from, const char *wanted)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	autofree char *all = mem_strdup("");
	struct error err = {0};
	struct ledger_event e;
	int got;

	if (ledger_events(l, run, from, 0, &c, &err) < 0)
		fail_msg("%s", err.msg);
	while ((got = ledger_next(c, &e, &err)) > 0) {
		char *more = str_format("%s%s%s", all, *all ? "," : "", e.id);

		free(all);
		all = more;
	}
	if (got < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(all, wanted);
}

static uint64_t faults_of(struct ledger *l)
{
	struct error err = {0};
	uint64_t count;

	if (ledger_verify(l, NULL, NULL, &count, &err) < 0)
		fail_msg("%s", err.msg);
	return count;
}

static void events_come_back_in_order(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_ledger_run struct ledger_run r = {0};
	struct error err = {0};
	struct ledger_event e;
	char run[LEDGER_ULID];
	uint64_t seq;

	new_run(l, run);
	expect_ids(l, run, 0, "");
	append(l, run, 3);
	append(l, run, 1);
	expect_ids(l, run, 0, "evt_001,evt_002,evt_003,evt_004");
	expect_ids(l, run, 3, "evt_003,evt_004");
	assert_int_equal(ledger_events(l, run, 2, 2, &c, &err), 0);
	assert_int_equal(ledger_next(c, &e, &err), 1);
	assert_string_equal(e.type, "odd");
	assert_int_equal(e.payload_len, 11);
	assert_memory_equal(e.payload, "{\"n\": 1.50}", 11);
	assert_null(e.actor);
	assert_int_equal(ledger_next(c, &e, &err), 0);
	assert_int_equal(ledger_run_get(l, run, &r, &err), 0);
	assert_string_equal(r.label, "label");
	assert_string_equal(r.goal, "goal");
	assert_null(r.parent);
	assert_int_equal(r.last, 4);
	assert_int_equal(ledger_event_find(l, run, "evt_004", &seq, &err), 1);
	assert_int_equal(seq, 4);
	assert_int_equal(ledger_event_find(l, run, "evt_005", &seq, &err), 0);
	assert_int_equal(ledger_event_find(l, run, "evt_04", &seq, &err), 0);
	assert_int_equal(ledger_run_find(l, "nobody", &r, &err), 0);
	assert_int_equal(faults_of(l), 0);
}

static void forks_share_their_prefix_and_go_their_own_way(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	auto_ledger_run struct ledger_run r = {0};
	char a[LEDGER_ULID], b[LEDGER_ULID], c[LEDGER_ULID], d[LEDGER_ULID];
	struct error err = {0};
	uint64_t count, seq;

	new_run(l, a);
	append(l, a, 4);
	fork_at(l, a, "evt_002", b);
	append(l, a, 1);
	expect_ids(l, b, 0, "evt_001,evt_002");
	append(l, b, 2);
	fork_at(l, b, NULL, c);
	/* Within what it shares itself. */
	fork_at(l, c, "evt_001", d);
	append(l, c, 1);
	append(l, d, 1);
	expect_ids(l, a, 0, "evt_001,evt_002,evt_003,evt_004,evt_005");
	expect_ids(l, b, 0, "evt_001,evt_002,evt_003,evt_004");
	expect_ids(l, c, 0, "evt_001,evt_002,evt_003,evt_004,evt_005");
	expect_ids(l, c, 2, "evt_002,evt_003,evt_004,evt_005");
	expect_ids(l, d, 0, "evt_001,evt_002");
	assert_int_equal(ledger_run_get(l, c, &r, &err), 0);
	assert_string_equal(r.parent, b);
	assert_string_equal(r.at, "evt_004");
	assert_int_equal(r.shared, 4);
	assert_int_equal(r.last, 5);
	assert_string_equal(r.goal, "goal");
	assert_int_equal(ledger_count(l, c, 0, "even", &count, &err), 0);
	assert_int_equal(count, 3); /* 1; 3 as the first of b's batch; 5 as the first of c's */
	assert_int_equal(ledger_count(l, c, r.shared + 1, NULL, &count, &err), 0);
	assert_int_equal(count, 1);
	/* The parent's own later events are not the fork's. */
	assert_int_equal(ledger_event_find(l, b, "evt_005", &seq, &err), 0);
	assert_int_equal(ledger_fork(l, a, "evt_999", NULL, d, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(ledger_fork(l, "nobody", NULL, NULL, d, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(faults_of(l), 0);
}

static void a_block_is_not_cut(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	char a[LEDGER_ULID], b[LEDGER_ULID];
	struct error err = {0};

	new_run(l, a);
	append(l, a, 1);
	assert_int_equal(append_as(l, a, 3, true, NULL, &err), 0);
	append(l, a, 1);
	assert_int_equal(ledger_fork(l, a, "evt_002", NULL, b, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "last event, evt_004"));
	assert_int_equal(ledger_fork(l, a, "evt_003", NULL, b, &err), -1);
	fork_at(l, a, "evt_001", b);
	fork_at(l, a, "evt_004", b);
	/* A fork of that fork knows the block too. */
	assert_int_equal(ledger_fork(l, b, "evt_003", NULL, a, &err), -1);
	fork_at(l, b, "evt_004", a);
	assert_int_equal(faults_of(l), 0);
}

static void a_second_writer_is_refused(void **state)
{
	auto_ledger struct ledger *l = open_it(*state), *m = open_it(*state);
	auto_ledger_writer struct ledger_writer *w = NULL, *x = NULL;
	struct ledger_new e = {.type = "t", .payload = "{}", .payload_len = 2};
	struct error err = {0};
	char run[LEDGER_ULID];

	new_run(l, run);
	assert_int_equal(ledger_writer_open(l, run, &w, &err), 0);
	assert_int_equal(ledger_writer_open(m, run, &x, &err), 0);
	assert_int_equal(ledger_append(w, &e, 1, false, &err), 0);
	assert_int_equal(ledger_append(x, &e, 1, false, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(ledger_append(w, &e, 1, false, &err), 0);
	assert_string_equal(ledger_writer_id(w), "evt_002");
	assert_int_equal(ledger_writer_seq(w), 2);
	expect_ids(l, run, 0, "evt_001,evt_002");
}

static void ids_from_outside_are_kept_and_never_given_twice(void **state)
{
	auto_ledger struct ledger *l = open_it(*state);
	char run[LEDGER_ULID], fork[LEDGER_ULID];
	struct error err = {0};
	uint64_t seq;

	new_run(l, run);
	assert_int_equal(append_as(l, run, 1, false, "chat-1", &err), 0);
	assert_int_equal(append_as(l, run, 1, false, "evt_007", &err), 0);
	assert_int_equal(append_as(l, run, 1, false, "chat-2", &err), 0);
	append(l, run, 1);
	expect_ids(l, run, 0, "chat-1,evt_007,chat-2,evt_008");
	assert_int_equal(append_as(l, run, 1, false, "evt_007", &err), -1);
	assert_int_equal(append_as(l, run, 1, false, "evt_002", &err), -1);
	assert_int_equal(append_as(l, run, 1, false, "chat-1", &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	fork_at(l, run, "chat-2", fork);
	append(l, fork, 1);
	expect_ids(l, fork, 0, "chat-1,evt_007,chat-2,evt_008");
	assert_int_equal(append_as(l, fork, 1, false, "chat-1", &err), -1);
	assert_int_equal(ledger_event_find(l, fork, "evt_008", &seq, &err), 1);
	assert_int_equal(seq, 4);
	assert_int_equal(ledger_event_find(l, fork, "chat-2", &seq, &err), 1);
	assert_int_equal(seq, 3);
	assert_int_equal(ledger_event_find(l, fork, "evt_003", &seq, &err), 0);
	assert_int_equal(faults_of(l), 0);
}

static void what_is_no_event_is_refused_and_nothing_of_its_batch_stays(void **state)
{
	static const struct ledger_new bad[] = {
		{.type = "", .payload = "{}", .payload_len = 2},
		{.type = "t", .payload = "[]", .payload_len = 2},
		{.type = "t", .payload = "{", .payload_len = 1},
		{.type = "t", .payload = "{\"a\":1,\"a\":2}", .payload_len = 13},
		{.type = "t", .payload = "{\"a\":NaN}", .payload_len = 9},
		{.type = "t\xff", .payload = "{}", .payload_len = 2},
		{.type = "t", .payload = "{}", .payload_len = 2, .time_ns = 5},
	};
	auto_ledger struct ledger *l = open_it(*state);
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct ledger_new first = {.type = "t", .payload = "{}", .payload_len = 2, .time_ns = 10};
	struct error err = {0};
	char run[LEDGER_ULID];

	new_run(l, run);
	assert_int_equal(ledger_writer_open(l, run, &w, &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct ledger_new pair[] = {first, bad[i]};

		assert_int_equal(ledger_append(w, pair, 2, false, &err), -1);
		assert_non_null(strstr(err.msg, "event 2 of 2"));
	}
	expect_ids(l, run, 0, "");
	assert_int_equal(ledger_append(w, &first, 1, false, &err), 0);
	expect_ids(l, run, 0, "evt_001");
}

static void rows_stay_and_a_changed_one_is_found(void **state)
{
	const struct scratch *s = *state;
	struct ledger *l = open_it(s);
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	struct error err = {0};
	struct ledger_event e;
	char run[LEDGER_ULID];

	new_run(l, run);
	append(l, run, 3);
	ledger_close(l);
	assert_int_not_equal(
		scratch_shell(s, "sqlite3 ledger 'DELETE FROM events' 2>/dev/null"), 0);
	assert_int_not_equal(
		scratch_shell(s, "sqlite3 ledger \"UPDATE runs SET label = 'x'\" 2>/dev/null"), 0);
	assert_int_equal(scratch_shell(s, "sqlite3 ledger \"DROP TRIGGER events_same; "
					  "UPDATE events SET type = 'other' WHERE seq = 2\""),
		0);
	l = open_it(s);
	assert_int_equal(faults_of(l), 1);
	assert_int_equal(ledger_events(l, run, 0, 0, &c, &err), 0);
	assert_int_equal(ledger_next(c, &e, &err), 1);
	assert_int_equal(ledger_next(c, &e, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_non_null(strstr(err.msg, "event 2"));
	ledger_cursor_cleanup(&c);
	ledger_close(l);
	assert_int_equal(scratch_shell(s, "sqlite3 ledger 'DROP TRIGGER events_stay; "
					  "DELETE FROM events WHERE seq = 2'"),
		0);
	l = open_it(s);
	assert_int_equal(faults_of(l), 1);
	assert_int_equal(ledger_events(l, run, 0, 0, &c, &err), 0);
	assert_int_equal(ledger_next(c, &e, &err), 1);
	assert_int_equal(ledger_next(c, &e, &err), -1);
	assert_non_null(strstr(err.msg, "event 2"));
	ledger_cursor_cleanup(&c);
	ledger_close(l);
}

static void what_is_no_ledger_is_said_and_nothing_is_made(void **state)
{
	static const struct {
		const char *make;
		enum errcode code;
	} rows[] = {
		{":", ERR_MISSING},
		{": >ledger", ERR_FORMAT},
		{"echo text >ledger", ERR_FORMAT},
		{"rm -f ledger*; sqlite3 ledger 'CREATE TABLE t (x)'", ERR_FORMAT},
		{"rm -f ledger*; sqlite3 ledger 'PRAGMA application_id = 0x53474c31; PRAGMA "
		 "user_version = 99; CREATE TABLE t (x)'",
			ERR_UNSUPPORTED},
		{"rm -f ledger*; sqlite3 ledger \"CREATE TABLE events (x); CREATE TABLE runs (x); "
		 "CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('schema_version', "
		 "'2')\"",
			ERR_UNSUPPORTED},
	};
	autofree char *path = scratch_path(*state, "ledger");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = {0};
		struct ledger *l;

		assert_int_equal(scratch_shell(*state, rows[i].make), 0);
		assert_int_equal(ledger_open(path, LEDGER_EXISTING, 0, &l, &err), -1);
		assert_int_equal(err.code, rows[i].code);
	}
	assert_int_equal(scratch_shell(*state, "rm -f ledger*"), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(events_come_back_in_order),
		CASE(forks_share_their_prefix_and_go_their_own_way),
		CASE(a_block_is_not_cut),
		CASE(a_second_writer_is_refused),
		CASE(ids_from_outside_are_kept_and_never_given_twice),
		CASE(what_is_no_event_is_refused_and_nothing_of_its_batch_stays),
		CASE(rows_stay_and_a_changed_one_is_found),
		CASE(what_is_no_ledger_is_said_and_nothing_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
