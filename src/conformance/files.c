/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of files: reading, writing, listing, and what may not be reached. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conformance/tests.h"

enum { MIB = 1 << 20, READ_MAX = 4 << 20 };

static void text_is_read_back(struct test *t)
{
	if (test_write(t, "hello.txt", "hello world \xe2\x80\x94 \xe2\x9c\x93"))
		test_holds(t, "hello.txt", "hello world \xe2\x80\x94 \xe2\x9c\x93");
}

static void round_trip(struct test *t, size_t len)
{
	autofree unsigned char *data = mem_alloc(len + 1);
	autofree char *got = NULL;
	struct error err = {0};
	size_t got_len;

	for (size_t i = 0; i < len; i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	if (session_write(t->session, "data", data, len, 0644, &err) < 0 ||
		session_read(t->session, "data", READ_MAX, &got, &got_len, &err) < 0) {
		test_fail(t, "%s", err.msg);
		return;
	}
	test_expect(t, got_len == len && memcmp(got, data, len) == 0,
		"%zu bytes came back otherwise", len);
}

static void bytes_of_every_value(struct test *t)
{
	round_trip(t, 1024);
}

static void a_mebibyte(struct test *t)
{
	round_trip(t, MIB);
}

static void an_empty_file(struct test *t)
{
	round_trip(t, 0);
}

static void a_write_replaces(struct test *t)
{
	if (test_write(t, "f", "long old content") && test_write(t, "f", "new"))
		test_holds(t, "f", "new");
}

static void a_write_makes_parents(struct test *t)
{
	if (test_write(t, "a/b/c/d.txt", "deep"))
		test_holds(t, "a/b/c/d.txt", "deep");
}

static void absolute_paths_start_at_the_root(struct test *t)
{
	if (test_write(t, "/workspace/x/abs", "1"))
		test_holds(t, "x/abs", "1");
}

static void dots_inside_are_allowed(struct test *t)
{
	if (test_write(t, "a/b/f", "1"))
		test_holds(t, "./a//b/../b/./f", "1");
}

static void read_fails(struct test *t, const char *path, enum errcode want)
{
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	test_failed_with(
		t, session_read(t->session, path, READ_MAX, &data, &len, &err), &err, want, path);
}

static void write_fails(struct test *t, const char *path, enum errcode want)
{
	struct error err = {0};

	test_failed_with(t, session_write(t->session, path, "x", 1, 0644, &err), &err, want, path);
}

static void ls_fails(struct test *t, const char *path, enum errcode want)
{
	auto_sandbox_names struct sandbox_names names = {0};
	struct error err = {0};

	test_failed_with(t, session_ls(t->session, path, &names, &err), &err, want, path);
}

static void a_missing_file_is_told(struct test *t)
{
	read_fails(t, "not/there", ERR_MISSING);
	read_fails(t, "neither", ERR_MISSING);
	ls_fails(t, "not-there", ERR_MISSING);
}

static void a_directory_is_no_file(struct test *t)
{
	if (!test_write(t, "d/f", "1"))
		return;
	read_fails(t, "d", ERR_IS_DIR);
	write_fails(t, "d", ERR_IS_DIR);
	read_fails(t, ".", ERR_IS_DIR);
}

static void a_file_is_no_directory(struct test *t)
{
	if (!test_write(t, "f", "1"))
		return;
	read_fails(t, "f/x", ERR_NOT_DIR);
	write_fails(t, "f/x", ERR_NOT_DIR);
	ls_fails(t, "f", ERR_NOT_DIR);
}

static void dots_out_of_the_root_are_refused(struct test *t)
{
	read_fails(t, "../x", ERR_ESCAPE);
	read_fails(t, "a/../../x", test_write(t, "a/f", "1") ? ERR_ESCAPE : ERR_MISSING);
	write_fails(t, "..", ERR_ESCAPE);
	ls_fails(t, "../..", ERR_ESCAPE);
}

static void absolute_paths_outside_are_refused(struct test *t)
{
	read_fails(t, "/etc/passwd", ERR_ESCAPE);
	write_fails(t, "/tmp/sandglass-conformance", ERR_ESCAPE);
	ls_fails(t, "/", ERR_ESCAPE);
	read_fails(t, "/workspace-not/x", ERR_ESCAPE);
	read_fails(t, "/workspace/../etc/passwd", ERR_ESCAPE);
}

static void links_out_of_the_root_are_refused(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!test_sh(t, "ln -s /etc out; ln -s /etc/passwd file; ln -s ../.. up; ln -s out chain",
		    &r))
		return;
	read_fails(t, "out/passwd", ERR_ESCAPE);
	read_fails(t, "file", ERR_ESCAPE);
	read_fails(t, "chain/passwd", ERR_ESCAPE);
	write_fails(t, "out/sandglass-conformance", ERR_ESCAPE);
	write_fails(t, "file", ERR_ESCAPE);
	ls_fails(t, "up", ERR_ESCAPE);
}

static void links_inside_are_followed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!test_sh(t, "mkdir d; echo -n 1 > d/f; ln -s d l; ln -s ../d/f d/g; ln -s l/g far", &r))
		return;
	test_holds(t, "l/f", "1");
	test_holds(t, "d/g", "1");
	test_holds(t, "far", "1");
}

static void a_circle_of_links_ends(struct test *t)
{
	auto_ran struct ran r = {0};
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	if (!test_sh(t, "ln -s b a; ln -s a b", &r))
		return;
	test_expect(t, session_read(t->session, "a", READ_MAX, &data, &len, &err) < 0,
		"a circle was read");
}

static void a_fifo_holds_nobody_up(struct test *t)
{
	auto_ran struct ran r = {0};
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	if (!test_sh(t, "mkfifo pipe", &r))
		return;
	test_expect(t, session_read(t->session, "pipe", READ_MAX, &data, &len, &err) < 0,
		"a fifo was read");
	test_expect(
		t, session_write(t->session, "pipe", "x", 1, 0644, &err) < 0, "a fifo was written");
}

static void modes_are_exact(struct test *t)
{
	static const struct {
		const char *path;
		unsigned mode;
	} rows[] = {{"m644", 0644}, {"m755", 0755}, {"m600", 0600}, {"m666", 0666}, {"m444", 0444},
		{"m777", 0777}};
	auto_ran struct ran r = {0};
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (session_write(t->session, rows[i].path, "x", 1, rows[i].mode, &err) < 0) {
			test_fail(t, "%s", err.msg);
			return;
		}
	if (test_sh(t, "stat -c %a m644 m755 m600 m666 m444 m777 | tr '\\n' ' '", &r))
		test_is_text(t, &r.out, "644 755 600 666 444 777 ");
}

static void a_replaced_file_takes_the_new_mode(struct test *t)
{
	auto_ran struct ran r = {0};
	struct error err = {0};

	if (session_write(t->session, "f", "1", 1, 0755, &err) < 0 ||
		session_write(t->session, "f", "2", 1, 0600, &err) < 0)
		test_fail(t, "%s", err.msg);
	else if (test_sh(t, "stat -c %a f", &r))
		test_is_text(t, &r.out, "600\n");
}

static bool lists(struct test *t, const char *path, const char *want)
{
	auto_sandbox_names struct sandbox_names names = {0};
	auto_bytes struct bytes text = {0};
	struct error err = {0};

	if (session_ls(t->session, path, &names, &err) < 0)
		return test_fail(t, "ls '%s': %s", path, err.msg);
	for (size_t i = 0; i < names.count; i++) {
		bytes_put(&text, names.items[i], strlen(names.items[i]));
		bytes_put(&text, " ", 1);
	}
	return test_is_text(t, &text, want);
}

static void a_listing_is_sorted_by_bytes(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "mkdir d; cd d; touch b a B a.b a-b _ 10 9 .hidden ..odd; mkdir z", &r))
		lists(t, "d", "..odd .hidden 10 9 B _ a a-b a.b b z ");
}

static void a_listing_of_nothing(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "mkdir empty", &r))
		lists(t, "empty", "");
}

static void a_listing_has_written_names(struct test *t)
{
	if (test_write(t, "dir/a.txt", "1") && test_write(t, "dir/b.txt", "2"))
		lists(t, "dir", "a.txt b.txt ");
}

static void names_with_odd_bytes(struct test *t)
{
	static const char *const names[] = {"with space", "with\nnewline", "-dash", "q'\"uote"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!test_write(t, names[i], names[i]))
			return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!test_holds(t, names[i], names[i]))
			return;
}

static void the_guest_sees_what_is_written(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_write(t, "in/f", "from outside") && test_sh(t, "cat in/f", &r))
		test_is_text(t, &r.out, "from outside");
}

static void what_the_guest_writes_is_read(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "mkdir -p o; echo from inside > o/f", &r))
		test_holds(t, "o/f", "from inside\n");
}

static void the_guest_may_change_what_was_written(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_write(t, "f", "1") && test_sh(t, "echo 2 >> f && mv f g && chmod 700 g", &r))
		test_holds(t, "g", "12\n");
}

static void a_file_over_the_bound_is_told(struct test *t)
{
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	if (test_write(t, "f", "0123456789"))
		test_failed_with(t, session_read(t->session, "f", 9, &data, &len, &err), &err,
			ERR_LIMIT, "a read of at most 9 bytes");
}

#define ROW(function) \
	{ \
#function, function, 0, NULL \
	}
const struct test_row test_rows_files[] = {
	ROW(text_is_read_back),
	ROW(bytes_of_every_value),
	ROW(a_mebibyte),
	ROW(an_empty_file),
	ROW(a_write_replaces),
	ROW(a_write_makes_parents),
	ROW(absolute_paths_start_at_the_root),
	ROW(dots_inside_are_allowed),
	ROW(a_missing_file_is_told),
	ROW(a_directory_is_no_file),
	ROW(a_file_is_no_directory),
	ROW(dots_out_of_the_root_are_refused),
	ROW(absolute_paths_outside_are_refused),
	ROW(links_out_of_the_root_are_refused),
	ROW(links_inside_are_followed),
	ROW(a_circle_of_links_ends),
	ROW(a_fifo_holds_nobody_up),
	ROW(modes_are_exact),
	ROW(a_replaced_file_takes_the_new_mode),
	ROW(a_listing_is_sorted_by_bytes),
	ROW(a_listing_of_nothing),
	ROW(a_listing_has_written_names),
	ROW(names_with_odd_bytes),
	ROW(the_guest_sees_what_is_written),
	ROW(what_the_guest_writes_is_read),
	ROW(the_guest_may_change_what_was_written),
	ROW(a_file_over_the_bound_is_told),
	{0},
};
