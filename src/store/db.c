/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite as the other files of this folder use it: see db.h. */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { WAIT_MS = 10000 };

/* One of the statements that are kept, found by the address of its text. */
struct db_rows {
	struct db *db;
	sqlite3_stmt *statement;
	const char *sql;
	bool is_used;
	struct db_rows *next;
};

struct db {
	sqlite3 *handle;
	struct db_rows *statements;
	unsigned wait_ms;
};

/* SQLite's answers as ours. */
static int fail(struct db *d, int r, struct error *err, const char *what)
{
	static const struct {
		int answer;
		enum errcode code;
	} rows[] = {{SQLITE_BUSY, ERR_BUSY}, {SQLITE_LOCKED, ERR_BUSY},
		{SQLITE_CORRUPT, ERR_FORMAT}, {SQLITE_NOTADB, ERR_FORMAT},
		{SQLITE_CANTOPEN, ERR_SYSTEM}};
	enum errcode code = ERR_SYSTEM;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].answer == (r & 0xff))
			code = rows[i].code;
	if (code == ERR_BUSY)
		return error_set(err, code, "%s: another process has held the database for %u.%u s",
			what, d->wait_ms / 1000, d->wait_ms / 100 % 10);
	return error_set(err, code, "%s: %.300s", what,
		d->handle ? sqlite3_errmsg(d->handle) : sqlite3_errstr(r));
}

int db_run(struct db *d, const char *sql, struct error *err)
{
	int r = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);

	return r == SQLITE_OK ? 0 : fail(d, r, err, "change the database");
}

int db_begin(struct db *d, struct db_transaction *ret, struct error *err)
{
	int r = sqlite3_exec(d->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (r != SQLITE_OK)
		return fail(d, r, err, "begin");
	ret->db = d;
	return 0;
}

int db_commit(struct db_transaction *t, struct error *err)
{
	int r;

	if (!t->db)
		return error_set(err, ERR_SYSTEM, "no transaction is open");
	r = sqlite3_exec(t->db->handle, "COMMIT", NULL, NULL, NULL);
	if (r != SQLITE_OK)
		return fail(t->db, r, err, "commit");
	t->db = NULL;
	return 0;
}

void db_rollback(struct db_transaction *t)
{
	/* A full disk has rolled it back already. */
	if (t->db && !sqlite3_get_autocommit(t->db->handle))
		(void)!sqlite3_exec(t->db->handle, "ROLLBACK", NULL, NULL, NULL);
	t->db = NULL;
}

int db_number(struct db *d, const char *sql, int64_t *ret, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int r = sqlite3_prepare_v2(d->handle, sql, -1, &s, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_step(s);
	if (r == SQLITE_ROW)
		*ret = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return r == SQLITE_ROW ? 0 : fail(d, r, err, "read the database");
}

/* Whether it is of the schema's version already, which needs no lock to see. */
static int is_current(struct db *d, const struct db_schema *schema, struct error *err)
{
	int64_t id = 0, version = 0;

	if (db_number(d, "PRAGMA application_id", &id, err) < 0 ||
		db_number(d, "PRAGMA user_version", &version, err) < 0)
		return -1;
	return (uint32_t)id == schema->application_id && version == schema->count;
}

static int migrate(struct db *d, const struct db_schema *schema, struct error *err)
{
	auto_transaction struct db_transaction t = {0};
	int64_t id = 0, version = 0;
	char text[100];

	if (db_begin(d, &t, err) < 0 || db_number(d, "PRAGMA application_id", &id, err) < 0 ||
		db_number(d, "PRAGMA user_version", &version, err) < 0)
		return -1;
	if ((uint32_t)id != schema->application_id && (id != 0 || version != 0))
		return error_set(err, ERR_FORMAT, "this database is of another program");
	if (id == 0) {
		int64_t tables = 0;

		if (db_number(d, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
			return -1;
		if (tables > 0)
			return error_set(err, ERR_FORMAT, "this database is of another program");
	}
	if (version > schema->count)
		return error_set(err, ERR_UNSUPPORTED,
			"this database is of version %d, and this program knows %d: use a newer "
			"one",
			(int)version, schema->count);
	if (version == schema->count && id != 0)
		return 0;
	for (int64_t i = version; i < schema->count; i++)
		if (db_run(d, schema->steps[i], err) < 0)
			return error_wrap(err, "step %d of the schema", (int)i + 1);
	snprintf(text, sizeof(text), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		(int)schema->application_id, schema->count);
	return db_run(d, text, err) < 0 ? -1 : db_commit(&t, err);
}

/* SQLite would make it with the umask's mode, and its log with that of the file. */
static int make_file(const char *path, struct error *err)
{
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? error_sys(err, "open '%.300s'", path) : 0;
}

int db_open_bare(const char *path, unsigned wait_ms, struct db **ret, struct error *err)
{
	auto_db struct db *d = mem_alloc(sizeof(*d));
	int r;

	d->wait_ms = wait_ms ? wait_ms : WAIT_MS;
	/* SQLite tells neither of these by a name of its own. */
	if (access(path, F_OK) < 0)
		return error_sys(err, "open '%.300s'", path);
	r = sqlite3_open_v2(path, &d->handle,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_busy_timeout(d->handle, (int)d->wait_ms);
	if (r != SQLITE_OK) {
		fail(d, r, err, "open the database");
		return error_wrap(err, "'%.200s'", path);
	}
	/* What is in the file may not do what a statement of ours does not say. */
	sqlite3_db_config(d->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	*ret = take_ptr(d);
	return 0;
}

int db_adopt(struct db *d, const struct db_schema *schema, struct error *err)
{
	static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
				       "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF";
	int current;

	if (db_run(d, settings, err) < 0)
		return -1;
	current = is_current(d, schema, err);
	return current < 0 ? -1 : current ? 0 : migrate(d, schema, err);
}

int db_open(const char *path, const struct db_schema *schema, struct db **ret, struct error *err)
{
	auto_db struct db *d = NULL;

	if (make_file(path, err) < 0 || db_open_bare(path, 0, &d, err) < 0)
		return -1;
	if (!d || db_adopt(d, schema, err) < 0)
		return error_wrap(err, "'%.200s'", path);
	*ret = take_ptr(d);
	return 0;
}

void db_close(struct db *d)
{
	if (!d)
		return;
	while (d->statements) {
		struct db_rows *next = d->statements->next;

		sqlite3_finalize(d->statements->statement);
		free(d->statements);
		d->statements = next;
	}
	sqlite3_close(d->handle);
	free(d);
}

void db_cleanup(struct db **d)
{
	db_close(*d);
	*d = NULL;
}

/* The statement of this text, not in use, prepared if there is none. */
static int find_statement(struct db *d, const char *sql, struct db_rows **ret, struct error *err)
{
	struct db_rows *s;
	int r;

	for (s = d->statements; s; s = s->next)
		if (s->sql == sql && !s->is_used)
			break;
	if (!s) {
		sqlite3_stmt *statement = NULL;

		r = sqlite3_prepare_v3(
			d->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
		if (r != SQLITE_OK)
			return fail(d, r, err, "prepare a statement");
		s = mem_alloc(sizeof(*s));
		*s = (struct db_rows){
			.db = d, .statement = statement, .sql = sql, .next = d->statements};
		d->statements = s;
	}
	s->is_used = true;
	*ret = s;
	return 0;
}

static int bind_one(sqlite3_stmt *s, int at, char type, va_list *ap)
{
	switch (type) {
	case 't':
		return sqlite3_bind_text(s, at, va_arg(*ap, const char *), -1, SQLITE_TRANSIENT);
	case 'n': {
		const char *text = va_arg(*ap, const char *);
		size_t len = va_arg(*ap, size_t);

		return sqlite3_bind_text64(s, at, text, len, SQLITE_TRANSIENT, SQLITE_UTF8);
	}
	case 'i':
		return sqlite3_bind_int64(s, at, va_arg(*ap, int64_t));
	case 'b': {
		const void *data = va_arg(*ap, const void *);
		size_t len = va_arg(*ap, size_t);

		return data ? sqlite3_bind_blob64(s, at, data, len, SQLITE_TRANSIENT)
			    : sqlite3_bind_null(s, at);
	}
	default:
		abort(); /* our own bug */
	}
}

static int query(struct db *d, struct db_rows **ret, struct error *err, const char *sql,
	const char *types, va_list *ap)
{
	auto_rows struct db_rows *s = NULL;

	if (find_statement(d, sql, &s, err) < 0 || !s)
		return -1;
	if (sqlite3_bind_parameter_count(s->statement) != (int)strlen(types))
		abort(); /* our own bug */
	for (int i = 0; types[i]; i++) {
		int r = bind_one(s->statement, i + 1, types[i], ap);

		if (r != SQLITE_OK)
			return fail(d, r, err, "bind a parameter");
	}
	*ret = take_ptr(s);
	return 0;
}

int db_query(struct db *d, struct db_rows **ret, struct error *err, const char *sql,
	const char *types, ...)
{
	va_list ap;
	int r;

	va_start(ap, types);
	r = query(d, ret, err, sql, types, &ap);
	va_end(ap);
	return r;
}

int db_next(struct db_rows *s, struct error *err)
{
	int r = sqlite3_step(s->statement);

	if (r == SQLITE_ROW)
		return 1;
	return r == SQLITE_DONE ? 0 : fail(s->db, r, err, "read the database");
}

const char *db_text(struct db_rows *s, int column)
{
	return (const char *)sqlite3_column_text(s->statement, column);
}

size_t db_text_len(struct db_rows *s, int column)
{
	return (size_t)sqlite3_column_bytes(s->statement, column);
}

int64_t db_int(struct db_rows *s, int column)
{
	return sqlite3_column_int64(s->statement, column);
}

const void *db_blob(struct db_rows *s, int column, size_t *ret_len)
{
	const void *data = sqlite3_column_blob(s->statement, column);

	*ret_len = (size_t)sqlite3_column_bytes(s->statement, column);
	return data;
}

void db_rows_cleanup(struct db_rows **s)
{
	if (!*s)
		return;
	sqlite3_reset((*s)->statement);
	sqlite3_clear_bindings((*s)->statement);
	(*s)->is_used = false;
	*s = NULL;
}

int db_change(
	struct db *d, int *ret_changes, struct error *err, const char *sql, const char *types, ...)
{
	auto_rows struct db_rows *s = NULL;
	va_list ap;
	int r;

	va_start(ap, types);
	r = query(d, &s, err, sql, types, &ap);
	va_end(ap);
	if (r < 0 || !s || db_next(s, err) < 0)
		return -1;
	if (ret_changes)
		*ret_changes = sqlite3_changes(d->handle);
	return 0;
}
