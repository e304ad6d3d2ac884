/* SPDX-License-Identifier: Apache-2.0 */
/* Killed, or refused by the disk, between any two steps: all of a change is there, or none of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "ledger/ledger.h"
#include "scratch.h"

static void must_do(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->msg);
}

/* Where the next step is fatal: it counts down. */
struct watch {
	int left;
	bool kills;
};

static int watch_step(void *context, const char *step)
{
	struct watch *w = context;

	(void)step;
	if (w->left-- > 0)
		return 0;
	if (w->kills)
		raise(SIGKILL);
	errno = ENOSPC;
	return -1;
}

static const char activegraph[] =
	"sqlite3 ledger \""
	"CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT "
	"NOT NULL, actor TEXT, payload TEXT NOT NULL, frame_id TEXT, caused_by TEXT, timestamp "
	"TEXT NOT NULL, run_id TEXT NOT NULL, UNIQUE(id, run_id));"
	"CREATE INDEX idx_events_run ON events(run_id, seq);"
	"CREATE TABLE runs (run_id TEXT PRIMARY KEY, parent_run_id TEXT, forked_at_event_id TEXT, "
	"label TEXT, created_at TEXT NOT NULL, goal TEXT, frame_id TEXT);"
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"INSERT INTO meta VALUES ('schema_version', '1');\"";

struct place {
	const struct scratch *scratch;
	struct ledger *ledger;
	char parent[LEDGER_ULID], fork[LEDGER_ULID];
};

static struct ledger *open_it(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "ledger");
	struct ledger *l = NULL;
	struct error err = {0};

	must_do(ledger_open(path, LEDGER_MAKE, 0, &l, &err), &err);
	return l;
}

static int append(struct ledger *l, const char *run, size_t count, struct error *err)
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct ledger_new e[4];

	for (size_t i = 0; i < count; i++)
		e[i] = (struct ledger_new){.type = "t", .payload = "{}", .payload_len = 2};
	if (ledger_writer_open(l, run, &w, err) < 0)
		return -1;
	return ledger_append(w, e, count, false, err);
}

/* A parent of 3 events and a fork of it, closed again. */
static void prepare(struct place *p, const struct scratch *s, bool is_foreign)
{
	struct error err = {0};

	p->scratch = s;
	assert_int_equal(scratch_shell(s, "rm -f ledger*"), 0);
	if (is_foreign)
		assert_int_equal(scratch_shell(s, activegraph), 0);
	p->ledger = open_it(s);
	must_do(ledger_run_new(p->ledger, NULL, NULL, p->parent, &err), &err);
	must_do(append(p->ledger, p->parent, 3, &err), &err);
	must_do(ledger_fork(p->ledger, p->parent, "evt_002", NULL, p->fork, &err), &err);
	ledger_close(p->ledger);
	p->ledger = NULL;
}

/* What is done under the watch: 0 or -1. */

static int do_append(struct place *p, struct error *err)
{
	return append(p->ledger, p->fork, 4, err);
}

static int do_fork(struct place *p, struct error *err)
{
	char id[LEDGER_ULID];

	return ledger_fork(p->ledger, p->parent, "evt_002", "forked", id, err);
}

/* A run and its events, held together. */
static int do_import(struct place *p, struct error *err)
{
	auto_ledger_hold struct ledger *hold = NULL;
	char id[LEDGER_ULID];

	if (ledger_hold(p->ledger, &hold, err) < 0 ||
		ledger_run_new(p->ledger, "imported", NULL, id, err) < 0 ||
		append(p->ledger, id, 3, err) < 0)
		return -1;
	return ledger_commit(&hold, err);
}

struct counting {
	struct ledger *ledger;
	uint64_t runs;
};

static int count_one(void *context, const struct ledger_run *r, struct error *err)
{
	struct counting *c = context;
	uint64_t events;

	c->runs++;
	/* One that was imported has all that it was imported with. */
	must_do(ledger_count(c->ledger, r->id, 0, NULL, &events, err), err);
	assert_true(!r->label || strcmp(r->label, "imported") != 0 || events == 3);
	return 0;
}

/* The parent is whole; fork and runs are as before or as after, never between. */
static bool check(const struct place *p)
{
	auto_ledger struct ledger *l = open_it(p->scratch);
	struct error err = {0};
	struct counting c = {l, 0};
	uint64_t events, faults;

	must_do(ledger_verify(l, NULL, NULL, &faults, &err), &err);
	assert_int_equal(faults, 0);
	must_do(ledger_count(l, p->parent, 0, NULL, &events, &err), &err);
	assert_int_equal(events, 3);
	must_do(ledger_run_each(l, count_one, &c, &err), &err);
	assert_in_range(c.runs, 2, 3);
	must_do(ledger_count(l, p->fork, 0, NULL, &events, &err), &err);
	assert_true(events == 2 || events == 6);
	/* And it can go on. */
	must_do(append(l, p->fork, 1, &err), &err);
	return c.runs == 3 || events == 6;
}

/* One attempt in a process of its own: true when it came to its end. */
static bool attempt(struct place *p, int (*act)(struct place *, struct error *), struct watch watch)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct error err = {0};
		int result;

		p->ledger = open_it(p->scratch);
		fault_watch(watch_step, &watch);
		result = act(p, &err);
		_exit(watch.left < 0 ? 1 : result < 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (watch.kills && WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return false;
	}
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status) == 0;
}

static void between_any_two_steps(const struct scratch *s, bool kills)
{
	static int (*const acts[])(struct place *, struct error *) = {
		do_append, do_fork, do_import};

	for (size_t i = 0; i < 2 * ARRAY_LEN(acts); i++) {
		bool ended = false;
		int steps = 0;

		for (; !ended && steps < 50; steps++) {
			struct place p = {0};
			bool done;

			prepare(&p, s, i % 2);
			ended = attempt(&p, acts[i / 2], (struct watch){steps, kills});
			done = check(&p);
			/* To its end it has done something. */
			assert_true(!ended || done);
		}
		assert_in_range(steps, 3, 49);
	}
}

static void a_kill_between_two_steps_leaves_all_or_nothing(void **state)
{
	between_any_two_steps(*state, true);
}

static void a_step_that_fails_leaves_all_or_nothing(void **state)
{
	between_any_two_steps(*state, false);
}

static void a_lock_of_another_process_is_said(void **state)
{
	struct error err = {0};
	struct ledger *l;
	struct place p = {0};
	autofree char *path = NULL;

	prepare(&p, *state, false);
	path = scratch_path(*state, "ledger");
	assert_int_equal(
		scratch_shell(*state, "(echo 'BEGIN EXCLUSIVE;'; echo '.shell : >locked'; "
				      "echo '.shell while [ -e locked ]; do sleep 0.02; done') | "
				      "sqlite3 ledger >/dev/null 2>&1 & "
				      "while [ ! -e locked ]; do sleep 0.02; done"),
		0);
	must_do(ledger_open(path, LEDGER_EXISTING, 50, &l, &err), &err);
	assert_int_equal(append(l, p.fork, 1, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.msg, "another process"));
	ledger_close(l);
	assert_int_equal(scratch_shell(*state, "rm locked"), 0);
	must_do(ledger_open(path, LEDGER_EXISTING, 20000, &l, &err), &err);
	must_do(append(l, p.fork, 1, &err), &err);
	ledger_close(l);
}

/* A byte in the middle of each page that holds one of the parent's events. */
static void a_page_of_other_bytes_is_found(void **state)
{
	struct error err = {0};
	struct ledger *l;
	struct place p = {0};
	autofree char *path = NULL;
	uint64_t faults;

	prepare(&p, *state, false);
	path = scratch_path(*state, "ledger");
	l = open_it(*state);
	for (int i = 0; i < 40; i++)
		must_do(append(l, p.fork, 4, &err), &err);
	must_do(ledger_checkpoint(l, &err), &err);
	ledger_close(l);
	/* The last t{} of the file as u{}: a page that SQLite has no doubts about. */
	assert_int_equal(scratch_shell(*state,
				 "at=$(grep -abo 't{}' ledger | tail -1 | cut -d: -f1); printf u | "
				 "dd of=ledger bs=1 seek=$at conv=notrunc 2>/dev/null"),
		0);
	must_do(ledger_open(path, LEDGER_EXISTING, 0, &l, &err), &err);
	must_do(ledger_verify(l, NULL, NULL, &faults, &err), &err);
	assert_int_not_equal(faults, 0);
	ledger_close(l);
	/* One of rubbish. */
	assert_int_equal(scratch_shell(*state, "n=$(($(stat -c %s ledger) / 4096 - 1)); head -c "
					       "4096 /dev/zero | tr '\\0' '\\377' | dd of=ledger "
					       "bs=4096 seek=$n conv=notrunc 2>/dev/null"),
		0);
	must_do(ledger_open(path, LEDGER_EXISTING, 0, &l, &err), &err);
	must_do(ledger_verify(l, NULL, NULL, &faults, &err), &err);
	assert_int_not_equal(faults, 0);
	ledger_close(l);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(a_kill_between_two_steps_leaves_all_or_nothing),
		CASE(a_step_that_fails_leaves_all_or_nothing),
		CASE(a_lock_of_another_process_is_said),
		CASE(a_page_of_other_bytes_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
