/* SPDX-License-Identifier: Apache-2.0 */
/* JSON is canonical when written and bounded when read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "codec/json.h"

static void check(const char *in, const char *out)
{
	auto_json json_t *value = NULL;
	autofree char *text = NULL;
	struct error err = {0};

	assert_int_equal(json_read(in, strlen(in), 1 << 20, &value, &err), 0);
	text = json_text(value);
	assert_string_equal(text, out);
}

/* The right side is what Python's json.dumps(v, sort_keys=True, separators=(",", ":")) gives. */
static void text_is_canonical(void **state)
{
	(void)state;
	check("{ \"b\" : 1, \"a\" : [ true , null, -5 ], \"aa\": {} }",
		"{\"a\":[true,null,-5],\"aa\":{},\"b\":1}");
	check("\"\\u0001\\b\\t\\n\\f\\r\\\"\\\\\\/\\u007f\"",
		"\"\\u0001\\b\\t\\n\\f\\r\\\"\\\\/\\u007f\"");
	check("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\\u00e9\\u20ac\\ud83d\\ude00\"");
	check("[]", "[]");
	check("9223372036854775807", "9223372036854775807");
}

/* The example of RFC 8785, section 3.2.3: keys in the order of their UTF-16 code units. */
static void jcs_is_that_of_rfc8785(void **state)
{
	static const char in[] =
		"{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
		"\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\","
		"\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
		"\"\\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\":\"\\u007f/\"}";
	static const char out[] = "{\"\":\"\x7f/\",\"\\r\":\"Carriage "
				  "Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
				  "\"\xc3\xb6\":\"Latin Small Letter O With "
				  "Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
				  "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
				  "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}";
	static const char small[] = "{\"b\":[1,2],\"a\":{\"c\":\"\xc3\xb6\"}}";
	struct bytes CLEANUP(bytes_finish) text = {0}, spaced = {0};
	auto_json json_t *value = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(json_read(in, strlen(in), 1 << 20, &value, &err), 0);
	json_write_as(&text, value, JSON_JCS);
	assert_int_equal(text.len, strlen(out));
	assert_memory_equal(text.data, out, text.len);
	json_cleanup(&value);
	assert_int_equal(json_read(small, strlen(small), 1 << 20, &value, &err), 0);
	json_write_as(&spaced, value, JSON_SPACED);
	bytes_put_u8(&spaced, 0);
	assert_string_equal((char *)spaced.data, "{\"a\": {\"c\": \"\\u00f6\"}, \"b\": [1, 2]}");
}

static void bytes_that_are_no_text_become_hex(void **state)
{
	auto_json json_t *text = json_bytes("ok", 2), *hex = json_bytes("\xff\0a", 3);
	autofree char *a = json_text(text), *b = json_text(hex);

	(void)state;
	assert_string_equal(a, "\"ok\"");
	assert_string_equal(b, "{\"hex\":\"ff0061\"}");
}

static void unlimited_is_null(void **state)
{
	auto_json json_t *value = json_u64(UINT64_MAX);

	(void)state;
	assert_true(json_is_null(value));
}

static void what_is_not_canonical_json_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum errcode code;
	} rows[] = {{"", ERR_FORMAT}, {"{", ERR_FORMAT}, {"[1.5]", ERR_FORMAT},
		{"{\"a\":{\"b\":[1e3]}}", ERR_FORMAT}, {"{\"a\":1,\"a\":2}", ERR_FORMAT},
		{"1 2", ERR_FORMAT}, {"\"\xff\"", ERR_FORMAT}, {"\"a\\u0000b\"", ERR_FORMAT},
		{"99999999999999999999", ERR_FORMAT}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *value = NULL;
		struct error err = {0};

		assert_int_equal(
			json_read(rows[i].text, strlen(rows[i].text), 1 << 20, &value, &err), -1);
		assert_int_equal(err.code, rows[i].code);
		assert_null(value);
	}
}

static void size_and_depth_are_bounded(void **state)
{
	char deep[201];
	json_t *value = NULL;
	struct error err = {0};

	(void)state;
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	deep[200] = '\0';
	assert_int_equal(json_read(deep, 200, 1 << 20, &value, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(json_read("[1,2]", 5, 4, &value, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(json_read(deep + 60, 80, 1 << 20, &value, &err), 0);
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_canonical),
		cmocka_unit_test(jcs_is_that_of_rfc8785),
		cmocka_unit_test(bytes_that_are_no_text_become_hex),
		cmocka_unit_test(unlimited_is_null),
		cmocka_unit_test(what_is_not_canonical_json_is_refused),
		cmocka_unit_test(size_and_depth_are_bounded),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
