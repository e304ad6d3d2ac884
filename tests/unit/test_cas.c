/* SPDX-License-Identifier: Apache-2.0 */
/* What is put into the store is there whole or not at all, and what is read is what was put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "cas/cas.h"
#include "cas/snapshot.h"
#include "scratch.h"

#define HELLO "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static struct cas *store(const struct scratch *s, enum cas_mode mode)
{
	autofree char *path = scratch_path(s, "deep/store");
	struct error err = {0};
	struct cas *c = NULL;

	/* Also called in children, which cannot fail as cmocka has it. */
	if (cas_open(path, mode, &c, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	return c;
}

static void put(struct cas *c, const char *text, char ret[DIGEST_TEXT])
{
	struct error err = {0};

	if (cas_put(c, text, strlen(text), NULL, ret, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static enum cas_state state_of(const struct scratch *s, const char *digest)
{
	auto_cas struct cas *c = store(s, CAS_READ);

	return cas_verify(c, digest, NULL, NULL);
}

static void what_was_put_is_got(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = store(s, CAS_WRITE);
	char digest[DIGEST_TEXT], again[DIGEST_TEXT];
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	put(c, "hello", digest);
	assert_string_equal(digest, HELLO);
	put(c, "hello", again);
	assert_string_equal(again, HELLO);
	assert_int_equal(cas_get(c, &HELLO[7], 5, &data, &len, &err), 0);
	assert_int_equal(len, 5);
	assert_string_equal(data, "hello");
	assert_int_equal(cas_get(c, HELLO, 4, &data, &len, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(cas_get(c, "sha256:2CF2", 4, &data, &len, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	/* Where the layout says, and nothing beside it. */
	assert_int_equal(
		scratch_shell(s, "cd deep/store; h=2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c"
				 "1fa7425e73043362938b9824; [ $(cat 2c/$h) = hello ];"
				 "[ \"$(ls -A 2c)\" = \"$(printf $h'\\n'$h.meta.json)\" ];"
				 "grep -q size_bytes.:5 2c/$h.meta.json; [ -z \"$(ls -A "
				 "tmp)\" ]; [ $(stat -c %a .) = 700 ]"),
		0);
}

static void long_streams_are_hashed_by_two(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = store(s, CAS_WRITE);
	autofree char *data = mem_alloc(9000001);
	char digest[DIGEST_TEXT], expected[DIGEST_TEXT];
	autofree char *back = NULL;
	autoclose int fd = -1;
	struct error err = {0};
	size_t len;

	for (size_t i = 0; i < 9000001; i++)
		data[i] = (char)(i * 2654435761u >> 13);
	digest_of(data, 9000001, expected);
	assert_int_equal(cas_put(c, data, 9000001, NULL, digest, &err), 0);
	assert_string_equal(digest, expected);
	assert_int_equal(cas_get(c, digest, 9000001, &back, &len, &err), 0);
	assert_memory_equal(back, data, 9000001);
	assert_int_equal(temp_open(&fd, &err), 0);
	assert_int_equal(fd_write_all(fd, data, 9000001, &err), 0);
	lseek(fd, 1, SEEK_SET);
	digest_of(data + 1, 9000000, expected);
	assert_int_equal(cas_put_fd(c, fd, NULL, NULL, digest, &err), 0);
	assert_string_equal(digest, expected);
	/* Nobody is left of them. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void memory_does_not_grow_with_size(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *c = store(s, CAS_WRITE);
	autoclose int fd = -1;
	struct rusage before, after;
	char digest[DIGEST_TEXT];
	struct error err = {0};

	assert_int_equal(scratch_shell(s, "head -c 100000000 /dev/zero >big"), 0);
	{
		autofree char *path = scratch_path(s, "big");

		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	put(c, "hello", digest);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(cas_put_fd(c, fd, NULL, NULL, digest, &err), 0);
	assert_int_equal(cas_verify(c, digest, NULL, NULL), CAS_INTACT);
	getrusage(RUSAGE_SELF, &after);
	/* KiB; the slots and buffers are some three MiB. */
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
}

static void absent_tampered_and_unreadable_are_told_apart(void **state)
{
	const struct scratch *s = *state;
	char digest[DIGEST_TEXT];
	static const struct {
		const char *shell;
		enum cas_state state;
	} rows[] = {
		{"true", CAS_INTACT},
		{"printf jello >$f", CAS_TAMPERED},
		{"printf hell >$f", CAS_TAMPERED},
		{"printf hello2 >$f", CAS_TAMPERED},
		{"rm $f; mkfifo $f", CAS_UNREADABLE},
		{"rm $f; mkdir $f", CAS_UNREADABLE},
		{"mv $f x; ln -s $PWD/x $f", CAS_UNREADABLE},
		{"rm $f; ln -s /nonexistent $f", CAS_UNREADABLE},
		{"mv deep/store/2c moved; ln -s $PWD/moved deep/store/2c", CAS_UNREADABLE},
		{"rm $f; mv $f.meta.json x", CAS_ABSENT},
		{"rm -r deep/store/2c", CAS_ABSENT},
		{"rm $f.meta.json; mkfifo $f.meta.json", CAS_INTACT},
		{"echo '{broken' >$f.meta.json", CAS_INTACT},
		{"mv deep/store real; ln -s $PWD/real deep/store", CAS_INTACT},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *text =
			str_format("f=deep/store/2c/%s; chmod -f u+w $f $f.meta.json; %s",
				&HELLO[7], rows[i].shell);
		struct cas *c;

		assert_int_equal(scratch_shell(s, "rm -rf deep x real moved"), 0);
		c = store(s, CAS_WRITE);
		put(c, "hello", digest);
		assert_int_equal(scratch_shell(s, text), 0);
		if (cas_verify(c, HELLO, NULL, NULL) != rows[i].state ||
			state_of(s, HELLO) != rows[i].state)
			fail_msg("not %s: %s", cas_state_names[rows[i].state], rows[i].shell);
		cas_close(c);
	}
}

static void what_may_not_be_read_is_unreadable(void **state)
{
	const struct scratch *s = *state;
	char digest[DIGEST_TEXT];
	int status;
	pid_t child;

	{
		auto_cas struct cas *c = store(s, CAS_WRITE);

		put(c, "hello", digest);
	}
	assert_int_equal(scratch_shell(s, "chmod 755 deep deep/store; chmod 0 deep/store/2c"), 0);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(9);
		_exit(state_of(s, HELLO) == CAS_UNREADABLE ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(scratch_shell(s, "chmod 700 deep/store/2c"), 0);
}

static void a_put_heals_what_was_tampered_with(void **state)
{
	const struct scratch *s = *state;
	static const char *const harms[] = {"printf jello >$f", "rm $f; mkfifo $f",
		"rm $f; ln -s /etc/passwd $f", "rm $f", "rm $f $f.meta.json"};
	char digest[DIGEST_TEXT];

	for (size_t i = 0; i < ARRAY_LEN(harms); i++) {
		autofree char *text =
			str_format("f=deep/store/2c/%s; chmod -f u+w $f; %s", &HELLO[7], harms[i]);
		auto_cas struct cas *c = store(s, CAS_WRITE);

		put(c, "hello", digest);
		assert_int_equal(scratch_shell(s, text), 0);
		put(c, "hello", digest);
		assert_int_equal(cas_verify(c, HELLO, NULL, NULL), CAS_INTACT);
	}
	assert_int_equal(scratch_shell(s, "grep -q root /etc/passwd"), 0);
}

static int count_entry(void *context, const struct cas_entry *e, struct error *err)
{
	(void)err;
	assert_true(e->size == 5 || e->size == 1);
	assert_string_equal(e->content_type, "application/octet-stream");
	assert_true(e->created_s > 1700000000);
	++*(int *)context;
	return 0;
}

static void roots_decide_what_stays(void **state)
{
	const struct scratch *s = *state;
	struct cas *c = store(s, CAS_WRITE);
	char digest[DIGEST_TEXT], other[DIGEST_TEXT], found[DIGEST_TEXT];
	struct cas_gc gc = {.is_dry = true};
	autofree struct cas_root *roots = NULL;
	struct error err = {0};
	size_t count;
	int listed = 0;

	put(c, "hello", digest);
	put(c, "x", other);
	assert_int_equal(cas_root_set(c, "a", digest, &err), 0);
	assert_int_equal(cas_root_find(c, "a", found, &err), 1);
	assert_string_equal(found, digest);
	assert_int_equal(cas_root_find(c, "b", found, &err), 0);
	/* What this handle has put stays as long as it is open. */
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.removed_objects, 0);
	cas_close(c);
	c = store(s, CAS_WRITE);
	assert_int_equal(cas_hold(c, other, &err), 1);
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.removed_objects, 0);
	cas_close(c);
	c = store(s, CAS_WRITE);
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.removed_objects, 1);
	assert_int_equal(cas_verify(c, other, NULL, NULL), CAS_INTACT);
	assert_int_equal(cas_list(c, count_entry, &listed, &err), 0);
	assert_int_equal(listed, 2);
	gc.is_dry = false;
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.kept_objects, 1);
	assert_int_equal(cas_verify(c, other, NULL, NULL), CAS_ABSENT);
	assert_int_equal(cas_root_set(c, "b", other, &err), -1);
	assert_int_equal(err.code, ERR_MISSING);
	assert_int_equal(cas_root_set(c, "../a", digest, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(cas_root_set(c, "Z", digest, &err), 0);
	assert_int_equal(cas_roots(c, &roots, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(roots[0].name, "Z");
	assert_int_equal(cas_root_drop(c, "Z", &err), 1);
	assert_int_equal(cas_root_drop(c, "Z", &err), 0);
	assert_int_equal(cas_root_drop(c, "a", &err), 1);
	assert_int_equal(cas_gc(c, &gc, &err), 0);
	assert_int_equal(gc.removed_objects, 1);
	cas_close(c);
	assert_int_equal(scratch_shell(s, "[ -z \"$(find deep/store -type f ! -name lock)\" ]"), 0);
}

static void gc_removes_nothing_on_half_the_knowledge(void **state)
{
	const struct scratch *s = *state;
	static const char *const harms[] = {"rm -f deep/store/2c/$h",
		"echo junk >deep/store/roots/bad", "mkfifo deep/store/roots/bad",
		"rm -f deep/store/2c/$h; ln -s /etc/passwd deep/store/2c/$h"};
	char digest[DIGEST_TEXT], other[DIGEST_TEXT];

	for (size_t i = 0; i < ARRAY_LEN(harms); i++) {
		autofree char *text = str_format("h=%s; %s", &HELLO[7], harms[i]);
		struct cas_gc gc = {0};
		struct error err = {0};
		struct cas *c;

		assert_int_equal(scratch_shell(s, "rm -rf deep"), 0);
		c = store(s, CAS_WRITE);
		put(c, "hello", digest);
		put(c, "x", other);
		assert_int_equal(cas_root_set(c, "a", digest, &err), 0);
		cas_close(c);
		assert_int_equal(scratch_shell(s, text), 0);
		c = store(s, CAS_WRITE);
		assert_int_equal(cas_gc(c, &gc, &err), -1);
		assert_int_equal(cas_verify(c, other, NULL, NULL), CAS_INTACT);
		cas_close(c);
	}
}

static void objects_travel_to_another_store(void **state)
{
	const struct scratch *s = *state;
	auto_cas struct cas *from = store(s, CAS_WRITE), *to = NULL;
	autofree char *path = scratch_path(s, "other"), *file = scratch_path(s, "bundle");
	autoclose int tree = -1, fd = -1;
	static const struct snapshot_policy policy = {0};
	char digest[DIGEST_TEXT], record[DIGEST_TEXT], found[DIGEST_TEXT];
	auto_json json_t *manifest = json_pack("{s:i}", "timeout", 5);
	const char *asked = record;
	struct cas_gc gc = {0};
	struct error err = {0};

	assert_int_equal(scratch_shell(s, "mkdir tree; echo x >tree/f"), 0);
	tree = scratch_dir(s, "tree");
	assert_int_equal(snapshot_freeze(tree, &policy, from, digest, &err), 0);
	assert_int_equal(snapshot_record_put(from, digest, manifest, record, &err), 0);
	fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(cas_export(from, &asked, 1, fd, NULL, &err), 0);
	assert_int_equal(scratch_shell(s, "tar tf bundle | grep -c sha256/ | grep -qx 2"), 0);
	assert_int_equal(cas_open(path, CAS_WRITE, &to, &err), 0);
	lseek(fd, 0, SEEK_SET);
	if (cas_import(to, fd, NULL, NULL, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	cas_close(to);
	assert_int_equal(cas_open(path, CAS_WRITE, &to, &err), 0);
	assert_int_equal(cas_gc(to, &gc, &err), 0);
	assert_int_equal(gc.kept_objects, 2);
	assert_int_equal(cas_verify(to, digest, NULL, NULL), CAS_INTACT);
	{
		autofree char *name = str_format("import-%s", record + 7);

		assert_int_equal(cas_root_find(to, name, found, &err), 1);
	}
	/* A stream that was changed brings nothing false in. */
	cas_close(to);
	to = NULL;
	assert_int_equal(
		scratch_shell(s, "rm -rf other; n=$(grep -abo 'ustar.*f' bundle | wc -l);"
				 "perl -0777 -pi -e 's/\"timeout\":5/\"timeout\":6/' bundle"),
		0);
	fd_close(&fd);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	assert_int_equal(cas_open(path, CAS_WRITE, &to, &err), 0);
	assert_int_equal(cas_import(to, fd, NULL, NULL, NULL, &err), -1);
	assert_int_equal(err.code, ERR_TAMPERED);
	assert_int_equal(cas_verify(to, record, NULL, NULL), CAS_ABSENT);
	lseek(fd, 5000, SEEK_SET);
	assert_int_equal(cas_import(to, fd, NULL, NULL, NULL, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
}

static void write_text(const char *path, const char *text)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0)
		_exit(77);
}

static void enter_user_namespace(void)
{
	autofree char *uid = str_format("0 %u 1", (unsigned)geteuid()),
		      *gid = str_format("0 %u 1", (unsigned)getegid());

	if (unshare(CLONE_NEWUSER) < 0)
		_exit(77);
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", uid);
	write_text("/proc/self/gid_map", gid);
}

/* A file system of two MiB that only this process sees; 77 where that cannot be had. */
static void enter_small_disk(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "deep");

	mkdir(path, 0755);
	if (geteuid() != 0)
		enter_user_namespace();
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", path, "tmpfs", 0, "size=2m") < 0)
		_exit(77);
}

static int in_child(void (*work)(const struct scratch *), const struct scratch *s)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		enter_small_disk(s);
		work(s);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(bool ok, int status)
{
	if (!ok)
		_exit(status);
}

static void fill_disk(const struct scratch *s)
{
	auto_cas struct cas *c = store(s, CAS_WRITE);
	autofree char *data = mem_alloc(8 << 20);
	char digest[DIGEST_TEXT];
	struct error err = {0};

	memset(data, 'x', 8 << 20);
	put(c, "hello", digest);
	expect(cas_put(c, data, 8 << 20, NULL, digest, &err) == -1, 1);
	expect(err.code == ERR_SYSTEM && strstr(err.msg, "No space"), 2);
	/* The room is free again. */
	expect(cas_put(c, data, 1 << 20, NULL, digest, &err) == 0, 3);
	expect(cas_verify(c, HELLO, NULL, NULL) == CAS_INTACT, 4);
	cas_close(c);
	c = NULL;
	expect(scratch_shell(s, "[ -z \"$(ls -A deep/store/tmp deep/store/pins | grep -v :)\" ]") ==
			0,
		5);
}

static void a_full_disk_leaves_nothing(void **state)
{
	int status = in_child(fill_disk, *state);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static void lock_disk(const struct scratch *s)
{
	autofree char *path = scratch_path(s, "deep"), *dir = scratch_path(s, "deep/store");
	struct cas *c = store(s, CAS_WRITE);
	autofree char *data = NULL;
	char digest[DIGEST_TEXT];
	struct error err = {0};
	size_t len;

	put(c, "hello", digest);
	cas_close(c);
	if (mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
		_exit(77);
	expect(cas_open(dir, CAS_WRITE, &c, &err) == -1 && strstr(err.msg, "Read-only"), 1);
	c = store(s, CAS_READ);
	expect(cas_get(c, HELLO, 5, &data, &len, &err) == 0, 2);
	expect(cas_put(c, "x", 1, NULL, digest, &err) == -1 && err.code == ERR_USAGE, 3);
	cas_close(c);
}

static void a_store_that_is_read_only_can_be_read(void **state)
{
	int status = in_child(lock_disk, *state);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

enum { WRITERS = 4, PUTS = 40 };

static void write_many(const struct scratch *s, int id)
{
	for (int i = 0; i < PUTS; i++) {
		auto_cas struct cas *c = store(s, CAS_WRITE);
		autofree char *text = str_format("object %d", i),
			      *name = str_format("w%d-%d", id, i);
		char digest[DIGEST_TEXT];
		struct error err = {0};

		expect(cas_put(c, text, strlen(text), NULL, digest, &err) == 0, 1);
		/* A gc may come in between. */
		if (i % 3 == 0)
			usleep(200);
		expect(cas_verify(c, digest, NULL, NULL) == CAS_INTACT, 2);
		expect(cas_root_set(c, name, digest, &err) == 0, 3);
		if (i > 0 && i % 2) {
			autofree char *last = str_format("w%d-%d", id, i - 1);

			expect(cas_root_drop(c, last, &err) == 1, 4);
		}
	}
	_exit(0);
}

static void gc_for_ever(const struct scratch *s)
{
	for (;;) {
		auto_cas struct cas *c = store(s, CAS_WRITE);
		struct cas_gc gc = {0};
		struct error err = {0};

		if (cas_gc(c, &gc, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			_exit(9);
		}
	}
}

static void puts_and_gc_go_together(void **state)
{
	const struct scratch *s = *state;
	pid_t writers[WRITERS], collector;
	auto_cas struct cas *c = store(s, CAS_WRITE);
	autofree struct cas_root *roots = NULL;
	struct error err = {0};
	int status, failed = 0;
	size_t count;

	collector = fork();
	if (collector == 0)
		gc_for_ever(s);
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (writers[i] == 0)
			write_many(s, i);
	}
	for (int i = 0; i < WRITERS; i++)
		if (waitpid(writers[i], &status, 0) != writers[i] || status != 0)
			failed = status;
	assert_int_equal(waitpid(collector, &status, WNOHANG), 0);
	kill(collector, SIGKILL);
	waitpid(collector, &status, 0);
	assert_int_equal(failed, 0);
	assert_int_equal(cas_roots(c, &roots, &count, &err), 0);
	assert_int_equal(count, WRITERS * PUTS / 2);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(cas_verify(c, roots[i].digest, NULL, NULL), CAS_INTACT);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(what_was_put_is_got),
		CASE(long_streams_are_hashed_by_two),
		CASE(memory_does_not_grow_with_size),
		CASE(absent_tampered_and_unreadable_are_told_apart),
		CASE(what_may_not_be_read_is_unreadable),
		CASE(a_put_heals_what_was_tampered_with),
		CASE(roots_decide_what_stays),
		CASE(gc_removes_nothing_on_half_the_knowledge),
		CASE(objects_travel_to_another_store),
		CASE(a_full_disk_leaves_nothing),
		CASE(a_store_that_is_read_only_can_be_read),
		CASE(puts_and_gc_go_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
