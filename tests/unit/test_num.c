/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes, durations and instants are read exactly, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/num.h"
#include "base/path.h"
#include "base/mem.h"
#include "base/str.h"

#define S 1000000000ull

static void sizes_are_1024_based(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {{"0", 0}, {"17", 17}, {"1K", 1024}, {"1k", 1024}, {"512M", 512ull << 20},
		{"2G", 2ull << 30}, {"1T", 1ull << 40}, {"18446744073709551615", UINT64_MAX}};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 1;

		assert_int_equal(num_parse_size(rows[i].text, &v, &err), 0);
		assert_true(v == rows[i].bytes);
	}
}

static void a_size_that_is_none_is_refused(void **state)
{
	static const char *const rows[] = {"", "-1", "K", "1KB", "1 K", "0x10",
		"18446744073709551616", "16777216T", "99999999999999999999999G", "1.5G", "1P"};
	struct error err = {0};
	uint64_t v = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(num_parse_size(rows[i], &v, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		assert_true(v == 42);
	}
}

static void durations_have_units_and_fractions(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {{"5", 5 * S}, {"5s", 5 * S}, {"500ms", S / 2}, {"0.5", S / 2},
		{"1.5h", 5400 * S}, {"2m", 120 * S}, {"7ns", 7}, {"1.5us", 1500}, {"1d", 86400 * S},
		{"0.0000000001s", 0}};
	static const char *const wrong[] = {
		"", "s", "5 s", "-5s", "5x", "1.s", ".5s", "300000000000", "1e3"};
	struct error err = {0};
	uint64_t v = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(num_parse_duration(rows[i].text, &v, &err), 0);
		assert_true(v == rows[i].ns);
	}
	v = 42;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(num_parse_duration(wrong[i], &v, &err), -1);
		assert_true(v == 42);
	}
}

static void times_are_seconds_or_rfc3339(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {{"0", 0}, {"1700000000", 1700000000 * S}, {"@1700000000", 1700000000 * S},
		{"1.25", S + S / 4}, {"2023-11-14T22:13:20Z", 1700000000 * S},
		{"2023-11-14t22:13:20z", 1700000000 * S}, {"2023-11-14 22:13:20Z", 1700000000 * S},
		{"2023-11-15T00:13:20+02:00", 1700000000 * S},
		{"2023-11-14T16:43:20-05:30", 1700000000 * S},
		{"2023-11-14T22:13:20.5Z", 1700000000 * S + S / 2}, {"1970-01-01T00:00:00Z", 0},
		{"2000-02-29T00:00:00Z", 951782400 * S}, {"2038-01-19T03:14:08Z", (1ull << 31) * S},
		{"2100-03-01T00:00:00Z", 4107542400 * S}};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 42;

		assert_int_equal(num_parse_time(rows[i].text, &v, &err), 0);
		assert_true(v == rows[i].ns);
	}
}

static void a_time_that_is_none_is_refused(void **state)
{
	static const char *const rows[] = {"", "now", "-1", "2023-11-14", "2023-11-14T22:13:20",
		"2023-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
		"2023-11-14T24:00:00Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20+24:00",
		"2023-11-14T22:13:20Zx", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00",
		"9999-01-01T00:00:00Z", "9223372036854775807", "99999999999999999999",
		"2023-11-14T22:13:20.Z"};
	struct error err = {0};
	uint64_t v = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(num_parse_time(rows[i], &v, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		assert_true(v == 42);
	}
}

static void a_time_survives_formatting(void **state)
{
	static const uint64_t rows[] = {
		0, 1700000000 * S, 951782399 * S + 1, 4107542399 * S + 500000000, 1};
	struct error err = {0};
	char text[NUM_TIME_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 42;

		num_format_time(text, rows[i]);
		assert_int_equal(num_parse_time(text, &v, &err), 0);
		assert_true(v == rows[i]);
	}
	num_format_time(text, 1700000000 * S);
	assert_string_equal(text, "2023-11-14T22:13:20Z");
}

static void paths_are_tidied_as_text(void **state)
{
	static const char *const rows[][2] = {{"/", "/"}, {"//a//b/", "/a/b"},
		{"/a/./b/../c", "/a/c"}, {"/../..", "/"}, {"/a/..", "/"}, {"a//b/.", "a/b"},
		{"", "."}, {"../x", "../x"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *tidy = path_tidy(rows[i][0]);

		assert_string_equal(tidy, rows[i][1]);
	}
	assert_true(path_is_in("/usr/bin", "/usr"));
	assert_true(path_is_in("/usr", "/usr"));
	assert_true(path_is_in("/usr", "/"));
	assert_false(path_is_in("/usrlocal", "/usr"));
	assert_false(path_is_in("/", "/usr"));
}

static void foreign_bytes_are_made_printable(void **state)
{
	autofree char *text = str_printable("a\n\x1b[31m\\\xff", 9, 100),
		      *cut = str_printable("abcdef", 6, 3);

	(void)state;
	assert_string_equal(text, "a\\n\\x1b[31m\\\\\\xff");
	assert_string_equal(cut, "abc...");
}

static void utf8_is_told_from_other_bytes(void **state)
{
	(void)state;
	assert_true(str_is_utf8("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
	assert_false(str_is_utf8("\xff", 1));
	assert_false(str_is_utf8("\xc3", 1));
	assert_false(str_is_utf8("\xc0\x80", 2));
	assert_false(str_is_utf8("\xed\xa0\x80", 3));
	assert_false(str_is_utf8("\xf4\x90\x80\x80", 4));
	assert_false(str_is_utf8("a\0b", 3));
}

static void modes_are_octal(void **state)
{
	static const char *const none[] = {
		"", "7", "64", "0648", "rw", "10000", "000644", "0644 ", "-644"};
	unsigned mode = 0;
	struct error err;

	(void)state;
	assert_int_equal(num_parse_mode("644", &mode, &err), 0);
	assert_int_equal(mode, 0644);
	assert_int_equal(num_parse_mode("07777", &mode, &err), 0);
	assert_int_equal(mode, 07777);
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_int_equal(num_parse_mode(none[i], &mode, &err), -1);
}

static void near_words_are_near(void **state)
{
	(void)state;
	assert_int_equal(str_distance("verify", "verify"), 0);
	assert_int_equal(str_distance("verfiy", "verify"), 1);
	assert_int_equal(str_distance("verfy", "verify"), 1);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_1024_based),
		cmocka_unit_test(a_size_that_is_none_is_refused),
		cmocka_unit_test(durations_have_units_and_fractions),
		cmocka_unit_test(times_are_seconds_or_rfc3339),
		cmocka_unit_test(a_time_that_is_none_is_refused),
		cmocka_unit_test(a_time_survives_formatting),
		cmocka_unit_test(paths_are_tidied_as_text),
		cmocka_unit_test(foreign_bytes_are_made_printable),
		cmocka_unit_test(utf8_is_told_from_other_bytes),
		cmocka_unit_test(modes_are_octal),
		cmocka_unit_test(near_words_are_near),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
