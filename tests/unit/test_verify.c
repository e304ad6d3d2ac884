/* SPDX-License-Identifier: Apache-2.0 */
/* Two synthetic runs are compared: where they part is found and told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"
#include "run/decisions.h"
#include "run/difference.h"
#include "wire/sysnr.h"

static void add(struct decisions *d, unsigned from, unsigned to, unsigned changed)
{
	auto_bytes struct bytes out = {0};
	struct error err = {0};
	struct bytes_reader r;

	for (unsigned i = from; i < to; i++) {
		struct decision one = {.kind = DECISION_CALL,
			.nr = NR_read,
			.task = 1,
			.now_ns = i,
			.args = {i, 0x12345678, 3},
			.result = i == changed ? -11 : 7};
		unsigned char raw[DECISION_SIZE];

		decision_encode(raw, &one);
		bytes_put(&out, raw, sizeof(raw));
	}
	r = bytes_reader(out.data, out.len);
	assert_int_equal(decisions_add(d, &r, &err), 0);
}

static void pair(struct decisions *a, struct decisions *b)
{
	struct error err = {0};

	decisions_init(a);
	decisions_init(b);
	assert_int_equal(decisions_keep(a, &err), 0);
	b->reference = a;
}

static void equal_streams_are_equal(void **state)
{
	auto_decisions struct decisions a, b;
	struct decisions_difference d;
	struct error err = {0};

	(void)state;
	pair(&a, &b);
	add(&a, 0, 5000, 1 << 30);
	for (unsigned i = 0; i < 5000; i += 100)
		add(&b, i, i + 100, 1 << 30);
	assert_int_equal(decisions_compare(&b, &d, &err), 0);
}

static void the_first_difference_is_found(void **state)
{
	auto_decisions struct decisions a, b;
	struct decisions_difference d;
	struct error err = {0};

	(void)state;
	pair(&a, &b);
	add(&a, 0, 5000, 1 << 30);
	add(&b, 0, 3000, 2999);
	add(&b, 3000, 5000, 4000);
	assert_int_equal(decisions_compare(&b, &d, &err), 1);
	assert_int_equal(d.ordinal, 3000);
	assert_true(d.has_first && d.has_second);
	assert_int_equal(d.first.result, 7);
	assert_int_equal(d.second.result, -11);
}

static void a_shorter_stream_parts_at_its_end(void **state)
{
	struct decisions_difference d;
	struct error err = {0};

	(void)state;
	for (int second_is_shorter = 0; second_is_shorter < 2; second_is_shorter++) {
		auto_decisions struct decisions a, b;

		pair(&a, &b);
		add(&a, 0, second_is_shorter ? 20 : 10, 1 << 30);
		add(&b, 0, second_is_shorter ? 10 : 20, 1 << 30);
		assert_int_equal(decisions_compare(&b, &d, &err), 1);
		assert_int_equal(d.ordinal, 11);
		assert_true(d.has_first == (second_is_shorter == 1));
		assert_true(d.has_second == (second_is_shorter == 0));
	}
}

static void a_difference_past_what_was_kept_is_told_by_the_hash(void **state)
{
	auto_decisions struct decisions a, b;
	struct decisions_difference d;
	struct error err = {0};

	(void)state;
	pair(&a, &b);
	add(&a, 0, 100, 1 << 30);
	a.kept = 0; /* as if the bound had been reached before */
	add(&b, 0, 100, 99);
	assert_int_equal(decisions_compare(&b, &d, &err), 1);
	assert_int_equal(d.ordinal, 0);
}

static void a_rest_that_is_no_record_is_a_format_error(void **state)
{
	auto_decisions struct decisions a;
	struct bytes_reader r = bytes_reader("0123456789", 10);
	struct error err = {0};

	(void)state;
	decisions_init(&a);
	assert_int_equal(decisions_add(&a, &r, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
}

static int file_of(const char *text, size_t len)
{
	struct error err = {0};
	int fd = -1;

	assert_int_equal(temp_open(&fd, &err), 0);
	assert_int_equal(fd_write_all(fd, text, len, &err), 0);
	return fd;
}

static int lines(const char *a, const char *b, struct difference_row *row)
{
	autoclose int first = file_of(a, strlen(a)), second = file_of(b, strlen(b));
	struct error err = {0};

	*row = (struct difference_row){0};
	return difference_lines(first, second, row, &err);
}

static void check_lines(
	const char *a, const char *b, unsigned line, const char *first, const char *second)
{
	struct difference d = {0};
	struct difference_row *row = &d.rows[DIFFERENCE_STDOUT];

	assert_int_equal(lines(a, b, row), 1);
	assert_int_equal(row->line, line);
	assert_string_equal(row->first ? row->first : "(none)", first);
	assert_string_equal(row->second ? row->second : "(none)", second);
	difference_finish(&d);
}

static void the_first_differing_line_is_shown(void **state)
{
	struct difference_row row;

	(void)state;
	assert_int_equal(lines("a\nb\n", "a\nb\n", &row), 0);
	check_lines("a\nb\nc\n", "a\nx\nc\n", 2, "b", "x");
	check_lines("a\n", "a\nb\n", 2, "(none)", "b");
	check_lines("a", "ab", 1, "a", "ab");
	check_lines("", "x", 1, "(none)", "x");
	check_lines("\x1b[1m\n", "\x1b[2m\n", 1, "\\x1b[1m", "\\x1b[2m");
}

static void a_long_line_is_shown_near_the_place(void **state)
{
	autofree char *a = mem_alloc(200002), *b = mem_alloc(200002);
	struct difference d = {0};

	(void)state;
	memset(a, 'x', 200000);
	memset(b, 'x', 200000);
	a[150000] = '1';
	b[150000] = '2';
	assert_int_equal(lines(a, b, &d.rows[0]), 1);
	assert_int_equal(d.rows[0].line, 1);
	assert_non_null(strstr(d.rows[0].first, "xxx1xxx"));
	assert_non_null(strstr(d.rows[0].second, "xxx2xxx"));
	assert_memory_equal(d.rows[0].first, "...", 3);
	assert_true(strlen(d.rows[0].first) < 300);
	difference_finish(&d);
}

static void decisions_are_told_by_name(void **state)
{
	struct decision call = {.kind = DECISION_CALL,
		.nr = NR_getrandom,
		.args = {0x7fff00001000, 16, (uint64_t)-100},
		.result = -22};
	struct decision unknown = {.kind = DECISION_CALL, .nr = 65000};
	struct decision clock = {.kind = DECISION_CLOCK, .args = {5000}};
	autofree char *a = difference_decision_text(&call), *b = difference_decision_text(&unknown);
	autofree char *c = difference_decision_text(&clock);

	(void)state;
	assert_string_equal(a, "getrandom(0x7fff00001000, 16, -100) = -22");
	assert_string_equal(b, "syscall_65000(0, 0, 0) = 0");
	assert_string_equal(c, "the clock moves by 5000 ns [0; 5000, 0, 0; 0]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_streams_are_equal),
		cmocka_unit_test(the_first_difference_is_found),
		cmocka_unit_test(a_shorter_stream_parts_at_its_end),
		cmocka_unit_test(a_difference_past_what_was_kept_is_told_by_the_hash),
		cmocka_unit_test(a_rest_that_is_no_record_is_a_format_error),
		cmocka_unit_test(the_first_differing_line_is_shown),
		cmocka_unit_test(a_long_line_is_shown_near_the_place),
		cmocka_unit_test(decisions_are_told_by_name),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
