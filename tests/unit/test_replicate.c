/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests, results and the comparison of numbers: what is refused, what is within. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "replicate/claim.h"
#include "replicate/compare.h"
#include "replicate/hardware.h"
#include "replicate/outcome.h"
#include "replicate/record.h"
#include "replicate/results.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEAD \
	"{\"format\":\"sandglass.replication/" \
	"1\",\"claim\":{\"id\":\"c\"},\"code\":{\"commit\":\"" COMMIT \
	"\"},\"image\":{\"digest\":\"sha256:" DIGITS "\"},\"entrypoint\":\"true\","
#define TARGET "\"targets\":[{\"name\":\"t\",\"value\":1.5,\"tolerance\":{\"absolute\":0.1}}]"

static int parse(const char *text, struct claim *c, struct violations *f)
{
	struct error err = {0};

	return claim_parse(text, strlen(text), c, f, &err);
}

static void a_small_manifest_has_the_default_limits(void **state)
{
	auto_claim struct claim c = {0};
	auto_violations struct violations f = {0};

	(void)state;
	assert_int_equal(parse(HEAD TARGET "}", &c, &f), 0);
	assert_string_equal(c.id, "c");
	assert_string_equal(c.commit, COMMIT);
	assert_int_equal(c.target_count, 1);
	assert_true(c.targets[0].value == 1.5 && c.targets[0].tolerance.high == 0.1);
	assert_true(c.limits.timeout_ns == 3600 * NUM_SECOND_NS && c.limits.pids == 256);
	assert_false(c.has_seed);
}

static void everything_that_a_manifest_may_say_is_taken(void **state)
{
	static const char text[] = HEAD
		"\"seed\":-7,\"environment\":{\"B\":\"2\",\"A\":\"\"},"
		"\"data\":[{\"name\":\"d\",\"path\":\"a/b.csv\",\"sha256\":\"" DIGITS
		"\",\"bytes\":0}],"
		"\"limits\":{\"timeout_seconds\":2,\"memory\":\"64M\",\"cpus\":1.5,\"pids\":9,"
		"\"tmp_bytes\":\"1M\",\"tmp_files\":3,\"output_bytes\":4096,\"output_files\":5},"
		"\"hardware\":{\"gpu\":true,\"cpu\":[\"fma\"]},"
		"\"targets\":[{\"name\":\"r\",\"value\":2,\"tolerance\":{\"relative\":0.5},"
		"\"unit\":\"m\"},"
		"{\"name\":\"i\",\"value\":-1e-3,\"tolerance\":{\"interval\":[-2,3.5]}}]}";
	auto_claim struct claim c = {0};
	auto_violations struct violations f = {0};

	(void)state;
	assert_int_equal(parse(text, &c, &f), 0);
	assert_true(c.has_seed && c.seed == -7 && c.needs_gpu);
	assert_string_equal(c.env[0], "A=");
	assert_string_equal(c.env[1], "B=2");
	assert_null(c.env[2]);
	assert_string_equal(c.data[0].digest, "sha256:" DIGITS);
	assert_true(c.limits.memory_bytes == 64 << 20 && c.limits.cpus_milli == 1500);
	assert_true(c.limits.output_bytes == 4096 && c.limits.output_files == 5);
	assert_string_equal(c.cpu_flags[0], "fma");
	assert_int_equal(c.targets[0].tolerance.kind, TOLERANCE_RELATIVE);
	assert_true(c.targets[1].tolerance.low == -2 && c.targets[1].tolerance.high == 3.5);
}

static void all_violations_are_told_at_once(void **state)
{
	static const char text[] =
		"{\"format\":\"x\",\"claim\":{\"id\":\"\"},\"code\":{\"commit\":\"abc\",\"branch\":"
		"\"b\"},"
		"\"image\":{},\"entrypoint\":7,\"environment\":{\"DOTLAB_SEED\":\"1\"},"
		"\"data\":[{\"name\":\"d\",\"path\":\"../x\",\"sha256\":\"no\",\"bytes\":-1}],"
		"\"targets\":[{\"name\":\"t\",\"value\":\"1\",\"tolerance\":{\"absolute\":-1}}],"
		"\"limits\":{\"pids\":0,\"memory\":\"1K\"}}";
	static const char *const wanted[] = {"format: ", "claim.id: ", "code.commit: ",
		"code.branch: ", "image.digest: is missing",
		"entrypoint: ", "environment.DOTLAB_SEED: ", "data[0].path: ", "data[0].sha256: ",
		"data[0].bytes: ", "targets[0].value: ", "targets[0].tolerance.absolute: ",
		"limits.pids: ", "limits.memory: "};
	auto_claim struct claim c = {0};
	auto_violations struct violations f = {0};

	(void)state;
	assert_int_equal(parse(text, &c, &f), -1);
	assert_int_equal(f.count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		bool is_there = false;

		for (size_t k = 0; k < f.count; k++)
			is_there = is_there || str_has_prefix(f.items[k], wanted[i]);
		if (!is_there)
			fail_msg("no violation '%s'", wanted[i]);
	}
}

static void what_is_no_manifest_is_refused(void **state)
{
	static const char *const texts[] = {"", "[]", "null", "{}", HEAD "\"targets\":[]}",
		HEAD TARGET "," TARGET "}", HEAD TARGET "} x",
		HEAD "\"targets\":[{\"name\":\"t\",\"value\":1,\"tolerance\":{}}]}",
		HEAD
		"\"targets\":[{\"name\":\"t\",\"value\":1,\"tolerance\":{\"interval\":[2,1]}}]}",
		HEAD
		"\"targets\":[{\"name\":\"t\",\"value\":1e999,\"tolerance\":{\"absolute\":0}}]}",
		HEAD "\"data\":[{\"name\":\"a\",\"path\":\"p\",\"sha256\":\"" DIGITS
		     "\",\"bytes\":1},{\"name\":\"b\",\"path\":\"p\",\"sha256\":\"" DIGITS
		     "\",\"bytes\":1}]," TARGET "}",
		HEAD "\"environment\":{\"HOME\":\"/\"}," TARGET "}",
		HEAD "\"seed\":1.5," TARGET "}", HEAD "\"entrypoint\":\"a\\u0000b\"," TARGET "}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		auto_claim struct claim c = {0};
		auto_violations struct violations f = {0};

		if (parse(texts[i], &c, &f) == 0)
			fail_msg("taken: %s", texts[i]);
	}
}

static void tolerances_hold_their_borders(void **state)
{
	static const struct {
		enum tolerance_kind kind;
		double low, high, claimed, value;
		bool within;
	} rows[] = {
		{TOLERANCE_ABSOLUTE, 0, 0.1, 0.3, 0.4, true}, /* 0.10000000000000003 in binary */
		{TOLERANCE_ABSOLUTE, 0, 0.1, 0.3, 0.4000001, false},
		{TOLERANCE_ABSOLUTE, 0, 0.1, 0.3, 0.2, true},
		{TOLERANCE_ABSOLUTE, 0, 0, 0.3, 0.1 + 0.2, false},
		{TOLERANCE_ABSOLUTE, 0, 0, 0.3, 0.3, true},
		{TOLERANCE_ABSOLUTE, 0, 0, 0.0, -0.0, true},
		{TOLERANCE_ABSOLUTE, 0, 1, 1e308, -1e308, false},
		{TOLERANCE_RELATIVE, 0, 0.01, 100, 101, true},
		{TOLERANCE_RELATIVE, 0, 0.01, -100, -101, true},
		{TOLERANCE_RELATIVE, 0, 0.01, -100, 100, false},
		{TOLERANCE_RELATIVE, 0, 0.01, 100, 101.01, false},
		{TOLERANCE_RELATIVE, 0, 0.5, 0, 1e-300, false},
		{TOLERANCE_RELATIVE, 0, 0.5, 0, 0, true},
		{TOLERANCE_INTERVAL, 1, 2, 50, 1, true},
		{TOLERANCE_INTERVAL, 1, 2, 50, 2, true},
		{TOLERANCE_INTERVAL, 1, 2, 1.5, 2.0000000000000004, false},
		{TOLERANCE_INTERVAL, 1, 2, 1.5, 0.9999999999999999, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct tolerance t = {rows[i].kind, rows[i].low, rows[i].high};

		if (compare_is_within(rows[i].claimed, &t, rows[i].value) != rows[i].within)
			fail_msg("row %zu", i);
	}
}

static void spread_tells_stable_from_lucky(void **state)
{
	static const double same[] = {1.5, 1.5, 1.5}, other[] = {1.5, 1.25, 2};
	struct spread s = compare_spread(same, 3), o = compare_spread(other, 3);

	(void)state;
	assert_true(s.is_stable && s.width == 0);
	assert_true(!o.is_stable && o.min == 1.25 && o.max == 2 && o.width == 0.75);
}

static void results_are_names_and_finite_numbers(void **state)
{
	static const char text[] = "{\"b\": 2, \"a\": -1.5e-3, \"c\": 100000000000000000000}";
	auto_results struct results r = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(results_parse(text, strlen(text), &r, &err), 0);
	assert_int_equal(r.count, 3);
	assert_string_equal(r.items[0].name, "a");
	assert_true(*results_find(&r, "a") == -1.5e-3 && *results_find(&r, "c") == 1e20);
	assert_null(results_find(&r, "d"));
}

static void results_of_another_form_are_refused(void **state)
{
	static const struct {
		const char *text;
		enum errcode code;
	} rows[] = {{"", ERR_FORMAT}, {"[1]", ERR_FORMAT}, {"1", ERR_FORMAT},
		{"{\"a\":NaN}", ERR_FORMAT}, {"{\"a\":Infinity}", ERR_FORMAT},
		{"{\"a\":1e999}", ERR_FORMAT}, {"{\"a\":-1e999}", ERR_FORMAT},
		{"{\"a\":\"1\"}", ERR_FORMAT}, {"{\"a\":null}", ERR_FORMAT},
		{"{\"a\":true}", ERR_FORMAT}, {"{\"a\":{\"b\":1}}", ERR_FORMAT},
		{"{\"a\":[1]}", ERR_FORMAT}, {"{\"a\":1,\"a\":1}", ERR_FORMAT},
		{"{\"a\":1} {}", ERR_FORMAT}, {"{\"a\":01}", ERR_FORMAT},
		{"{\"a\":.5}", ERR_FORMAT}, {"\xef\xbb\xbf{\"a\":1}", ERR_FORMAT},
		{"{\"\xff\":1}", ERR_FORMAT}};
	autofree char *deep = mem_alloc(4096), *large = mem_alloc(RESULTS_MAX + 2);
	auto_results struct results r = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (results_parse(rows[i].text, strlen(rows[i].text), &r, &err) == 0)
			fail_msg("taken: %s", rows[i].text);
		assert_int_equal(err.code, rows[i].code);
	}
	memset(deep, '[', 4000);
	assert_int_equal(results_parse(deep, 4000, &r, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	memset(large, ' ', RESULTS_MAX + 1);
	assert_int_equal(results_parse(large, RESULTS_MAX + 1, &r, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void the_first_of_the_worst_kind_is_the_reason(void **state)
{
	auto_findings struct findings f;

	(void)state;
	findings_init(&f);
	findings_add(&f, FINDING_TARGET_OUTSIDE, 1, "t");
	findings_add(&f, FINDING_EXITED, 1, "status 3");
	findings_add(&f, FINDING_RESULTS_MISSING, 1, "r");
	assert_int_equal(f.worst, FINDING_EXITED);
	assert_string_equal(f.detail, "status 3");
	assert_int_equal(json_array_size(f.list), 3);
	assert_int_equal(finding_find("exited"), FINDING_EXITED);
	assert_int_equal(finding_find("no such"), FINDINGS);
}

static void what_was_said_last_is_one_line_and_escaped_once(void **state)
{
	static const char said[] = "a \\ b\nc\033\n\n";
	auto_execution struct execution e = {.output = -1};
	auto_findings struct findings f;

	(void)state;
	execution_take_said(&e, said, sizeof(said) - 1);
	findings_init(&f);
	findings_add(&f, FINDING_EXITED, 1, "status 3: %s", e.detail);
	assert_string_equal(f.detail, "status 3: a \\\\ b c\\x1b");
	execution_take_said(&e, "\n", 1);
	assert_string_equal(e.detail, "");
}

static void reals_are_written_shortest_and_read_back(void **state)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {{0.1, "0.1"}, {1, "1"}, {-2.5, "-2.5"}, {1e300, "1e+300"},
		{0.1 + 0.2, "0.30000000000000004"}, {5e-324, "5e-324"}};
	static const char *const wrong[] = {
		"", "x", "1 ", " 1", "0x10", "nan", "inf", "1e999", "1.", ".5", "01", "-"};
	struct error err = {0};
	double v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[NUM_REAL_SIZE];

		num_format_real(text, rows[i].v);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(num_parse_real(text, &v, &err), 0);
		assert_true(v == rows[i].v);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(num_parse_real(wrong[i], &v, &err), -1);
}

static void a_flag_is_a_whole_word(void **state)
{
	static const char text[] = "processor\t: 0\nflags\t\t: fpu avx2 sha_ni\nbugs\t: fma\n";

	(void)state;
	assert_true(hardware_has_flag(text, "avx2"));
	assert_true(hardware_has_flag(text, "sha_ni"));
	assert_false(hardware_has_flag(text, "avx"));
	assert_false(hardware_has_flag(text, "fma"));
}

/* The record of one run in which target t came out as 1.5. */
static json_t *make_record(double value)
{
	auto_claim struct claim c = {0};
	auto_violations struct violations v = {0};
	auto_findings struct findings f;
	auto_isolation struct isolation isolation = {0};
	auto_json json_t *runs = json_array(), *targets = NULL, *outputs = json_array();
	struct result one = {(char *)(uintptr_t) "t", value};
	struct results results = {&one, 1};
	struct execution e = {.end = END_EXITED, .output = -1};
	struct record r = {.claim = &c,
		.version = "1",
		.image = "x",
		.runtime = "native",
		.isolation = &isolation,
		.repeat = 1,
		.findings = &f};

	assert_int_equal(parse(HEAD TARGET "}", &c, &v), 0);
	findings_init(&f);
	json_add(runs, record_run(&e, outputs, &results));
	targets = record_targets(&c, &results, 1, &f);
	if (f.worst == FINDINGS)
		findings_add(&f, FINDING_ALL_WITHIN, 0, "1 of 1");
	r.runs = runs;
	r.targets = targets;
	r.code = r.data = outputs;
	return record_json(&r);
}

static enum verdict_class check(const json_t *record)
{
	auto_verdict struct verdict v;
	enum verdict_class worst;

	verdict_init(&v);
	record_check(record, &v);
	worst = v.worst;
	return worst;
}

static void a_record_that_agrees_with_itself_passes(void **state)
{
	auto_json json_t *good = make_record(1.5), *bad = make_record(2);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(good, "outcome")), "reproduced");
	assert_string_equal(json_string_value(json_object_get(bad, "outcome")), "not_reproduced");
	assert_int_equal(check(good), VERDICT_VERIFIED);
	assert_int_equal(check(bad), VERDICT_VERIFIED);
}

static void a_record_that_contradicts_itself_fails(void **state)
{
	auto_json json_t *outcome = make_record(2), *verdict = make_record(2),
			 *value = make_record(1.5), *contract = make_record(1.5),
			 *lacks = make_record(1.5);

	(void)state;
	json_put(outcome, "outcome", json_str("reproduced"));
	assert_int_equal(check(outcome), VERDICT_FAILED);
	json_put(json_array_get(json_object_get(verdict, "targets"), 0), "verdict",
		json_str("within"));
	assert_int_equal(check(verdict), VERDICT_FAILED);
	json_array_set_new(
		json_object_get(json_array_get(json_object_get(value, "targets"), 0), "values"), 0,
		json_str("9"));
	assert_int_equal(check(value), VERDICT_FAILED);
	json_put(json_object_get(contract, "contract"), "seed", json_str("2"));
	assert_int_equal(check(contract), VERDICT_FAILED);
	json_object_del(lacks, "runs");
	assert_int_equal(check(lacks), VERDICT_FAILED);
}

/* The first of its runs, or targets. */
static json_t *first(const json_t *record, const char *list)
{
	return json_array_get(json_object_get(record, list), 0);
}

static void what_was_reproduced_was_run(void **state)
{
	auto_json json_t *none = make_record(1.5), *other = make_record(1.5),
			 *ended = make_record(1.5), *killed = make_record(1.5);

	(void)state;
	json_array_clear(json_object_get(none, "runs"));
	json_array_clear(json_object_get(first(none, "targets"), "values"));
	assert_int_equal(check(none), VERDICT_FAILED);
	json_put(json_object_get(first(other, "runs"), "results"), "t", json_str("9"));
	assert_int_equal(check(other), VERDICT_FAILED);
	json_put(json_object_get(first(ended, "runs"), "end"), "code", json_u64(1));
	assert_int_equal(check(ended), VERDICT_FAILED);
	json_put(json_object_get(first(killed, "runs"), "end"), "how", json_str("timed_out"));
	assert_int_equal(check(killed), VERDICT_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_manifest_has_the_default_limits),
		cmocka_unit_test(everything_that_a_manifest_may_say_is_taken),
		cmocka_unit_test(all_violations_are_told_at_once),
		cmocka_unit_test(what_is_no_manifest_is_refused),
		cmocka_unit_test(tolerances_hold_their_borders),
		cmocka_unit_test(spread_tells_stable_from_lucky),
		cmocka_unit_test(results_are_names_and_finite_numbers),
		cmocka_unit_test(results_of_another_form_are_refused),
		cmocka_unit_test(the_first_of_the_worst_kind_is_the_reason),
		cmocka_unit_test(what_was_said_last_is_one_line_and_escaped_once),
		cmocka_unit_test(reals_are_written_shortest_and_read_back),
		cmocka_unit_test(a_flag_is_a_whole_word),
		cmocka_unit_test(a_record_that_agrees_with_itself_passes),
		cmocka_unit_test(a_record_that_contradicts_itself_fails),
		cmocka_unit_test(what_was_reproduced_was_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
