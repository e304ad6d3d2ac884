/* SPDX-License-Identifier: Apache-2.0 */
/* A database is made, moved to newer schemas, shared, and refused where it is another's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "scratch.h"
#include "store/db.h"

static const char *const steps[] = {
	"CREATE TABLE t (name TEXT PRIMARY KEY, n INTEGER, data BLOB)",
	"ALTER TABLE t ADD COLUMN more TEXT; CREATE INDEX t_n ON t (n)",
};

static const struct db_schema old = {0x53474c53, steps, 1}, new = {0x53474c53, steps, 2},
			      foreign = {0x11111111, steps, 1};

static struct db *open_as(const struct scratch *s, const struct db_schema *schema)
{
	autofree char *path = scratch_path(s, "db");
	struct error err = {0};
	struct db *d = NULL;

	if (db_open(path, schema, &d, &err) < 0)
		fail_msg("%s", err.msg);
	return d;
}

static void insert(struct db *d, const char *name, int64_t n)
{
	struct error err = {0};
	int changes;

	if (db_change(d, &changes, &err, "INSERT INTO t (name, n, data) VALUES (?, ?, ?)", "tib",
		    name, n, "\0\1", (size_t)2) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(changes, 1);
}

static int64_t count(struct db *d)
{
	auto_rows struct db_rows *r = NULL;
	struct error err;

	assert_int_equal(db_query(d, &r, &err, "SELECT count(*) FROM t", ""), 0);
	assert_int_equal(db_next(r, &err), 1);
	return db_int(r, 0);
}

static void rows_come_back(void **state)
{
	auto_db struct db *d = open_as(*state, &old);
	auto_rows struct db_rows *r = NULL, *inner = NULL;
	autofree char *path = scratch_path(*state, "db");
	static const char sql[] = "SELECT name, n, data, NULL FROM t WHERE n > ? ORDER BY n";
	struct error err = {0};
	struct stat st;
	size_t len;

	insert(d, "a", 1);
	insert(d, "it's; DROP TABLE t", INT64_MAX);
	assert_int_equal(db_query(d, &r, &err, sql, "i", (int64_t)0), 0);
	assert_int_equal(db_next(r, &err), 1);
	assert_string_equal(db_text(r, 0), "a");
	assert_memory_equal(db_blob(r, 2, &len), "\0\1", 2);
	assert_int_equal(len, 2);
	assert_null(db_text(r, 3));
	/* The same text once more while the first is in use. */
	assert_int_equal(db_query(d, &inner, &err, sql, "i", (int64_t)1), 0);
	assert_int_equal(db_next(inner, &err), 1);
	assert_int_equal(db_int(inner, 1), INT64_MAX);
	assert_int_equal(db_next(r, &err), 1);
	assert_int_equal(db_next(r, &err), 0);
	assert_int_equal(db_change(d, NULL, &err, "INSERT INTO t (name) VALUES (?)", "t", "a"), -1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void what_is_not_committed_is_not_there(void **state)
{
	auto_db struct db *d = open_as(*state, &old);
	struct error err = {0};

	{
		auto_transaction struct db_transaction t = {0};

		assert_int_equal(db_begin(d, &t, &err), 0);
		insert(d, "a", 1);
	}
	assert_int_equal(count(d), 0);
	{
		auto_transaction struct db_transaction t = {0};

		assert_int_equal(db_begin(d, &t, &err), 0);
		insert(d, "a", 1);
		assert_int_equal(db_commit(&t, &err), 0);
	}
	assert_int_equal(count(d), 1);
}

static void schemas_move_forward_alone(void **state)
{
	const struct scratch *s = *state;
	autofree char *path = scratch_path(s, "db");
	struct error err = {0};
	struct db *d = open_as(s, &old);

	insert(d, "a", 1);
	db_close(d);
	d = open_as(s, &new);
	assert_int_equal(count(d), 1);
	assert_int_equal(db_run(d, "UPDATE t SET more = 'x'", &err), 0);
	db_close(d);
	assert_int_equal(db_open(path, &old, &d, &err), -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_int_equal(db_open(path, &foreign, &d, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	d = open_as(s, &new);
	db_close(d);
}

static void what_is_no_database_of_ours_is_refused(void **state)
{
	const struct scratch *s = *state;
	static const char *const made[] = {"head -c 8192 /dev/urandom >db",
		"rm -f db*; sqlite3 db 'CREATE TABLE other (x)'", "rm -f db*; mkdir db"};
	autofree char *path = scratch_path(s, "db");

	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		struct error err = {0};
		struct db *d;

		assert_int_equal(scratch_shell(s, made[i]), 0);
		assert_int_equal(db_open(path, &old, &d, &err), -1);
		assert_int_equal(err.code, i < 2 ? ERR_FORMAT : ERR_SYSTEM);
	}
}

static void a_failed_step_changes_nothing(void **state)
{
	const struct scratch *s = *state;
	static const char *const bad[] = {
		"CREATE TABLE t (name TEXT PRIMARY KEY, n INTEGER, data BLOB)",
		"CREATE TABLE u (x); CREATE TABLE u (x)"};
	static const struct db_schema broken = {0x53474c53, bad, 2};
	autofree char *path = scratch_path(s, "db");
	struct error err = {0};
	struct db *d;

	assert_int_equal(db_open(path, &broken, &d, &err), -1);
	assert_int_equal(scratch_shell(s, "[ -z \"$(sqlite3 db .tables)\" ]"), 0);
	d = open_as(s, &old);
	db_close(d);
}

enum { WRITERS = 3, ROWS = 30 };

static void processes_share_it_and_one_that_is_killed_harms_nobody(void **state)
{
	const struct scratch *s = *state;
	auto_db struct db *d = NULL;
	pid_t children[WRITERS + 1];
	int status;

	d = open_as(s, &old);
	for (int c = 0; c <= WRITERS; c++) {
		children[c] = fork();
		if (children[c] == 0) {
			struct db *own = open_as(s, &old);
			struct error err;

			for (int i = 0; c < WRITERS && i < ROWS; i++)
				insert(own, (char[]){(char)('a' + c), (char)('0' + i), 0}, i);
			if (c == WRITERS) {
				struct db_transaction t = {0};

				if (db_begin(own, &t, &err) == 0)
					insert(own, "killed", 1);
				raise(SIGKILL);
			}
			_exit(0);
		}
	}
	for (int c = 0; c <= WRITERS; c++) {
		assert_int_equal(waitpid(children[c], &status, 0), children[c]);
		assert_true(c == WRITERS ? WIFSIGNALED(status) : status == 0);
	}
	assert_int_equal(count(d), WRITERS * ROWS);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
	static const struct CMUnitTest tests[] = {
		CASE(rows_come_back),
		CASE(what_is_not_committed_is_not_there),
		CASE(schemas_move_forward_alone),
		CASE(what_is_no_database_of_ours_is_refused),
		CASE(a_failed_step_changes_nothing),
		CASE(processes_share_it_and_one_that_is_killed_harms_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
