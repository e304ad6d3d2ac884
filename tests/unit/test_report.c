/* SPDX-License-Identifier: Apache-2.0 */
/* The report says what happened, and arrives whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/report.h"

static json_t *make(struct contract *c, struct one_result *one, struct difference *d)
{
	static char word[] = "true", *argv[] = {word, NULL}, *env[] = {NULL};
	struct inputs in = {0};
	auto_decisions struct decisions decisions;

	contract_init(c);
	c->argv = argv;
	c->env = env;
	c->workdir = (char[]){"/"};
	c->workflow_id = (char[]){"w"};
	free(c->network);
	c->network = (char[]){"none"};
	decisions_init(&decisions);
	return report_json(&(struct report){.contract = c,
		.inputs = &in,
		.first = one,
		.decisions = &decisions,
		.tree = "",
		.runs = d ? 2 : 1,
		.difference = d,
		.status = 0});
}

static void a_clean_run_is_enforced(void **state)
{
	struct contract c;
	struct one_result one = {.code = 3};
	auto_json json_t *r = make(&c, &one, NULL);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(r, "format")), "sandglass.run/1");
	assert_true(json_is_true(json_object_get(r, "enforced")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(r, "exit"), "code")), 3);
	assert_null(json_object_get(json_object_get(r, "exit"), "signal"));
	assert_true(json_is_null(json_object_get(json_object_get(r, "verify"), "identical")));
}

static void a_hole_is_in_the_report_with_its_count(void **state)
{
	struct contract c;
	struct one_result one = {.signal = 9, .oom = true};
	json_t *row;

	(void)state;
	notes_add(&one.notes, REASON_EXTERNAL_INPUT, "stdin");
	notes_add(&one.notes, REASON_EXTERNAL_INPUT, "again");
	notes_add(&one.notes, REASON_LIMIT_DEGRADED, "memory");
	auto_json json_t *r = make(&c, &one, NULL);
	assert_true(json_is_false(json_object_get(r, "enforced")));
	row = json_array_get(json_object_get(r, "not_enforced"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "reason")), "external_input");
	assert_int_equal(json_integer_value(json_object_get(row, "count")), 2);
	assert_string_equal(json_string_value(json_object_get(row, "first")), "stdin");
	row = json_array_get(json_object_get(r, "assumptions"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "reason")), "limit_degraded");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(r, "exit"), "signal")), 9);
	assert_true(json_is_true(json_object_get(json_object_get(r, "exit"), "oom")));
	notes_finish(&one.notes);
}

static void two_runs_that_part_are_not_identical(void **state)
{
	struct contract c;
	struct one_result one = {0};
	struct difference d = {.has_decision = true, .decision = {.ordinal = 5, .has_first = true}};
	json_t *verify, *first;

	(void)state;
	d.rows[DIFFERENCE_STDOUT] =
		(struct difference_row){.differs = true, .line = 2, .first = (char[]){"a"}};
	d.rows[DIFFERENCE_DECISIONS].differs = true;
	auto_json json_t *r = make(&c, &one, &d);
	verify = json_object_get(r, "verify");
	assert_true(json_is_false(json_object_get(verify, "identical")));
	first = json_object_get(verify, "first_difference");
	assert_int_equal(json_array_size(json_object_get(first, "outputs")), 2);
	assert_int_equal(json_integer_value(json_object_get(first, "line")), 2);
	assert_true(json_is_null(json_object_get(first, "second")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(first, "decision"), "ordinal")),
		5);
	assert_true(json_is_null(json_object_get(json_object_get(first, "decision"), "second")));
}

static void a_report_replaces_the_old_one_whole(void **state)
{
	char dir[] = "/tmp/sandglass-report-XXXXXX";
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	autofree char *file = str_format("%s/r.json", dir),
		      *wrong = str_format("%s/no/r.json", dir);
	assert_int_equal(report_write(file, "{}", &err), 0);
	assert_int_equal(report_write(file, "{\"a\":1}", &err), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 8);
	assert_int_equal(report_write(wrong, "{}", &err), -1);
	assert_int_equal(report_write("/dev/full", "{}", &err), -1);
	assert_int_equal(report_write("/dev/null", "{}", &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_run_is_enforced),
		cmocka_unit_test(a_hole_is_in_the_report_with_its_count),
		cmocka_unit_test(two_runs_that_part_are_not_identical),
		cmocka_unit_test(a_report_replaces_the_old_one_whole),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
