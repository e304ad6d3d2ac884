/* SPDX-License-Identifier: Apache-2.0 */
/* The chain keeps what was acknowledged, whatever is killed, and shows whatever is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/inside.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "scratch.h"

/* 2026-01-01T00:00:00Z. */
#define NEW_YEAR_NS 1767225600000000000ull
#define DAY_NS 86400000000000ull

static int open_log(const struct scratch *s, enum audit_mode mode, struct audit **ret)
{
	autofree char *dir = scratch_path(s, "log"), *key = scratch_path(s, "log.key");
	struct error err = {0};
	int r = audit_open(dir, key, mode, ret, &err);

	if (r < 0)
		fprintf(stderr, "%s\n", err.msg);
	return r;
}

static int append(struct audit *a, const char *type, uint64_t real_ns, struct error *err)
{
	struct audit_event e = {.type = type,
		.actor = "a",
		.resource_type = "r",
		.resource_id = "\xc3\xa9",
		.real_ns = real_ns};

	return audit_append(a, &e, NULL, err);
}

static void fill(const struct scratch *s, int count)
{
	auto_audit struct audit *a = NULL;
	struct error err = {0};

	assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
	for (int i = 0; i < count; i++)
		if (append(a, "e", NEW_YEAR_NS + (uint64_t)(i / 2) * DAY_NS, &err) < 0)
			fail_msg("%s", err.msg);
}

/* The codes of all that is wrong, a space after each. */
static int note(void *context, const struct audit_fault *f, struct error *err)
{
	char *text = context;
	size_t len = strlen(text);

	(void)err;
	snprintf(text + len, 400 - len, "%s:%d ", f->code, (int)f->line);
	return 0;
}

static uint64_t walk_seal(
	const struct scratch *s, const struct audit_head *seal, char ret_faults[400])
{
	struct audit_walk w = {.fault = note, .context = ret_faults, .seal = seal};
	auto_audit struct audit *a = NULL;
	struct error err = {0};

	ret_faults[0] = '\0';
	assert_int_equal(open_log(s, AUDIT_READ, &a), 0);
	assert_int_equal(audit_walk(a, &w, &err), 0);
	return w.lines;
}

static uint64_t walk(const struct scratch *s, char ret_faults[400])
{
	return walk_seal(s, NULL, ret_faults);
}

static void a_known_record_has_its_known_hmac(void **state)
{
	static const char line[] =
		"{\"actor\":\"fork_race\",\"details\":{},\"event_type\":\"sandbox.fork_race\","
		"\"hmac\":\"x\",\"prev_hmac\":\"" AUDIT_GENESIS "\",\"resource_id\":\"ab\","
		"\"resource_type\":\"sandbox_selection_receipt\","
		"\"timestamp\":\"2026-01-01T00:00:00.000000Z\"}";
	struct audit_text CLEANUP(audit_text_finish) t = {0};
	auto_json json_t *record = NULL;
	unsigned char raw[DIGEST_SIZE];
	char key[32], hmac[DIGEST_HEX];
	struct error err = {0};

	(void)state;
	memset(key, 'k', sizeof(key));
	assert_int_equal(json_read(line, strlen(line), 4096, &record, &err), 0);
	audit_text_write(&t, record);
	digest_hmac(key, sizeof(key), AUDIT_GENESIS, 64, t.body.data, t.body.len, raw);
	digest_hex(raw, hmac);
	assert_string_equal(
		hmac, "0e253c0f9e7dd3082c0a88c6a47a60c0a9e8e308607ce06c00fd8ed7e5ec3ad9");
}

static void what_was_appended_is_a_chain(void **state)
{
	const struct scratch *s = *state;
	auto_audit struct audit *a = NULL;
	struct audit_head head;
	struct error err = {0};
	char faults[400];

	fill(s, 5);
	assert_int_equal(walk(s, faults), 5);
	assert_string_equal(faults, "");
	assert_int_equal(
		scratch_shell(s,
			"[ \"$(ls log | grep -c jsonl)\" = 3 ] && "
			"[ \"$(stat -c %a log log.key log/head | sort -u | xargs)\" = "
			"'600 755' -o \"$(stat -c %a log log.key | xargs)\" = '700 600' ]"),
		0);
	/* A clock that goes back writes into the last file. */
	assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
	assert_int_equal(append(a, "back", NEW_YEAR_NS, &err), 0);
	assert_int_equal(audit_head_find(a, &head, &err), 1);
	assert_int_equal(head.count, 6);
	assert_string_equal(head.file, "2026-01-03.jsonl");
	assert_int_equal(walk(s, faults), 6);
	assert_string_equal(faults, "");
}

static void each_change_is_found_and_named(void **state)
{
	static const struct {
		const char *shell, *faults;
	} rows[] = {
		{"sed -i '1s/\"a\"/\"b\"/' log/2026-01-01.jsonl", "hmac_mismatch:1 "},
		{"sed -i 1d log/2026-01-01.jsonl", "prev_mismatch:1 tail_cut:0 "},
		{"sed -i 2d log/2026-01-02.jsonl", "prev_mismatch:1 tail_cut:0 "},
		{"sed -i '1{h;d};2{G}' log/2026-01-02.jsonl",
			"prev_mismatch:1 prev_mismatch:2 prev_mismatch:1 "},
		{"sed -i '2{p}' log/2026-01-02.jsonl", "prev_mismatch:3 head_mismatch:0 "},
		{"sed -i '1s/^/ /' log/2026-01-03.jsonl", "not_canonical:1 "},
		{"sed -i '1s/.*/no json/' log/2026-01-03.jsonl", "not_json:1 head_mismatch:0 "},
		{"sed -i '1s/.*/[]/' log/2026-01-01.jsonl", "not_a_record:1 "},
		{"sed -i '1s/\"actor\": \"a\"/\"actor\": 1/' log/2026-01-01.jsonl",
			"not_a_record:1 "},
		{"rm log/2026-01-03.jsonl", "tail_cut:0 "},
		{"rm log/2026-01-01.jsonl", "prev_mismatch:1 tail_cut:0 "},
		{"rm log/2026-01-02.jsonl", "prev_mismatch:1 tail_cut:0 "},
		{"mv log/2026-01-03.jsonl log/2026-02-03.jsonl", "date_mismatch:1 "},
		{"mv log/2026-01-01.jsonl log/2027-01-01.jsonl",
			"prev_mismatch:1 prev_mismatch:1 date_mismatch:1 head_mismatch:0 "},
		{"truncate -s -1 log/2026-01-03.jsonl", "no_newline:1 tail_cut:0 "},
		{"truncate -s 0 log/2026-01-03.jsonl", "tail_cut:0 "},
		{"rm log/head", "head_missing:0 "},
		{"sed -i 's/5/4/' log/head", "head_forged:0 "},
		{"rm log/2026-01-02.jsonl; mkfifo log/2026-01-02.jsonl",
			"file_unreadable:0 tail_cut:0 "},
		{"mv log/2026-01-02.jsonl x; ln -s ../x log/2026-01-02.jsonl",
			"file_unreadable:0 tail_cut:0 "},
		{"head -c 2000000 /dev/zero >log/2026-01-02.jsonl", "line_too_long:1 tail_cut:0 "},
	};
	const struct scratch *s = *state;
	auto_audit struct audit *a = NULL;
	struct error err = {0};
	char faults[400];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fill(s, 5);
		assert_int_equal(scratch_shell(s, rows[i].shell), 0);
		walk(s, faults);
		if (strcmp(faults, rows[i].faults) != 0)
			fail_msg("%s: '%s'", rows[i].shell, faults);
		assert_int_equal(scratch_shell(s, "rm -r log x 2>/dev/null || true"), 0);
	}
	/* What was cut is not covered up by going on. */
	fill(s, 5);
	assert_int_equal(scratch_shell(s, "rm log/2026-01-03.jsonl"), 0);
	assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
	assert_int_equal(append(a, "e", NEW_YEAR_NS, &err), -1);
	assert_int_equal(err.code, ERR_TAMPERED);
}

static void another_key_makes_every_line_a_forgery(void **state)
{
	const struct scratch *s = *state;
	auto_audit struct audit *a = NULL;
	char faults[400];

	fill(s, 2);
	assert_int_equal(scratch_shell(s, "tr 0-9a-f 1-9a-f0 <log.key >k; cat k >log.key"), 0);
	walk(s, faults);
	assert_string_equal(faults, "hmac_mismatch:1 hmac_mismatch:2 head_forged:0 ");
	/* Reading makes no key: a new one would say the same of everything. */
	assert_int_equal(scratch_shell(s, "rm log.key"), 0);
	assert_int_equal(open_log(s, AUDIT_READ, &a), -1);
	assert_int_equal(scratch_shell(s, "! [ -e log.key ]"), 0);
}

static void a_log_put_back_is_found_by_its_seal(void **state)
{
	const struct scratch *s = *state;
	auto_audit struct audit *a = NULL;
	struct audit_head seal, other;
	struct error err = {0};
	char faults[400];

	fill(s, 3);
	assert_int_equal(scratch_shell(s, "cp -a log old"), 0);
	assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
	assert_int_equal(append(a, "e", NEW_YEAR_NS + 2 * DAY_NS, &err), 0);
	assert_int_equal(audit_head_find(a, &seal, &err), 1);
	assert_int_equal(append(a, "e", NEW_YEAR_NS + 2 * DAY_NS, &err), 0);
	walk_seal(s, &seal, faults);
	assert_string_equal(faults, "");
	other = seal;
	other.hmac[0] = other.hmac[0] == '0' ? '1' : '0';
	walk_seal(s, &other, faults);
	assert_string_equal(faults, "seal_mismatch:0 ");
	assert_int_equal(scratch_shell(s, "rm -r log; mv old log"), 0);
	walk(s, faults);
	assert_string_equal(faults, ""); /* by itself it is whole */
	walk_seal(s, &seal, faults);
	assert_string_equal(faults, "seal_ahead:0 ");
}

struct countdown {
	int left;
	bool kills;
};

static int count_down(void *context, const char *step)
{
	struct countdown *c = context;

	(void)step;
	if (--c->left != 0)
		return 0;
	if (c->kills)
		kill(getpid(), SIGKILL);
	errno = ENOSPC;
	return -1;
}

/* Appends once in a child in which the nth step kills it or fails; true when it got that far. */
static bool disturbed(const struct scratch *s, int step, bool kills)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct countdown c = {step, kills};
		struct audit *a = NULL;
		struct error err = {0};

		fault_watch(count_down, &c);
		if (open_log(s, AUDIT_APPEND, &a) < 0)
			_exit(3);
		_exit(append(a, "disturbed", NEW_YEAR_NS + 9 * DAY_NS, &err) < 0 ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void a_death_or_failure_at_any_step_leaves_a_chain(void **state)
{
	const struct scratch *s = *state;
	char faults[400];

	for (int kills = 0; kills < 2; kills++) {
		int step = 1;

		for (; disturbed(s, step, kills); step++) {
			auto_audit struct audit *a = NULL;
			struct error err = {0};

			assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
			if (append(a, "after", NEW_YEAR_NS + 9 * DAY_NS, &err) < 0)
				fail_msg("step %d: %s", step, err.msg);
			walk(s, faults);
			assert_string_equal(faults, "");
		}
		assert_int_equal(step, 4);
	}
}

static void a_line_left_half_is_taken_away_and_told(void **state)
{
	const struct scratch *s = *state;
	auto_audit struct audit *a = NULL;
	struct error err = {0};
	char faults[400];

	fill(s, 2);
	assert_int_equal(scratch_shell(s, "printf '{\"actor\": \"a' >>log/2026-01-01.jsonl"), 0);
	walk(s, faults);
	assert_string_equal(faults, "no_newline:3 ");
	assert_int_equal(open_log(s, AUDIT_APPEND, &a), 0);
	assert_int_equal(append(a, "e", NEW_YEAR_NS, &err), 0);
	assert_int_equal(walk(s, faults), 4);
	assert_string_equal(faults, "");
	assert_int_equal(scratch_shell(s, "grep -q torn_line_removed log/2026-01-01.jsonl"), 0);
	/* In a file that nobody knows of yet, too. */
	assert_int_equal(scratch_shell(s, "printf half >log/2026-01-05.jsonl"), 0);
	if (append(a, "e", NEW_YEAR_NS + 4 * DAY_NS, &err) < 0)
		fail_msg("%s", err.msg);
	walk(s, faults);
	assert_string_equal(faults, "");
	/* A whole line that the chain does not know is no half one. */
	assert_int_equal(scratch_shell(s, "echo '{}' >>log/2026-01-05.jsonl"), 0);
	assert_int_equal(append(a, "e", NEW_YEAR_NS + 4 * DAY_NS, &err), -1);
	assert_int_equal(err.code, ERR_TAMPERED);
}

static void writers_of_many_processes_make_one_chain(void **state)
{
	enum { WRITERS = 8, EACH = 125 };
	const struct scratch *s = *state;
	char faults[400];

	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0) {
			struct audit *a = NULL;
			struct error err = {0};

			if (open_log(s, AUDIT_APPEND, &a) < 0)
				_exit(1);
			for (int n = 0; n < EACH; n++)
				if (append(a, "w", 0, &err) < 0) {
					fprintf(stderr, "%s\n", err.msg);
					_exit(1);
				}
			_exit(0);
		}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(walk(s, faults), WRITERS * EACH);
	assert_string_equal(faults, "");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(a_known_record_has_its_known_hmac),
		CASE(what_was_appended_is_a_chain),
		CASE(each_change_is_found_and_named),
		CASE(another_key_makes_every_line_a_forgery),
		CASE(a_log_put_back_is_found_by_its_seal),
		CASE(a_death_or_failure_at_any_step_leaves_a_chain),
		CASE(a_line_left_half_is_taken_away_and_told),
		CASE(writers_of_many_processes_make_one_chain),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
