/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite as the other files of this folder use it: opening with migrations, statements, one
 * transaction at a time. Durable (write-ahead log, synchronous FULL), shared by several processes.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

struct db;

/* Step i of `steps` (SQL) makes version i + 1 out of version i; rows are only ever added. */
struct db_schema {
	uint32_t application_id; /* PRAGMA application_id: another one is ERR_FORMAT */
	const char *const *steps;
	int count;
};

/*
 * Opens the file, makes it (mode 0600) when it is absent, and brings it to the schema's version in
 * one transaction. A newer version than ours is ERR_UNSUPPORTED, a file of another kind or a
 * damaged one ERR_FORMAT.
 */
MUST_CHECK int db_open(
	const char *path, const struct db_schema *schema, struct db **ret, struct error *err);
/*
 * The same in two steps, for a file that may be of several programs: opened as it is, ERR_MISSING
 * when it is absent, and nothing in it changed; then taken for one of ours. wait_ms is how long
 * other processes are waited for, 0 is 10 s.
 */
MUST_CHECK int db_open_bare(const char *path, unsigned wait_ms, struct db **ret, struct error *err);
MUST_CHECK int db_adopt(struct db *d, const struct db_schema *schema, struct error *err);
void db_close(struct db *d);
void db_cleanup(struct db **d);
#define auto_db CLEANUP(db_cleanup)

/* SQL without results, several statements. */
MUST_CHECK int db_run(struct db *d, const char *sql, struct error *err);

/* The number that a statement of one row and column tells, such as a PRAGMA. */
MUST_CHECK int db_number(struct db *d, const char *sql, int64_t *ret, struct error *err);

/*
 * BEGIN IMMEDIATE; rolled back by the cleaner unless db_commit came. Waits for other
 * writers, then ERR_BUSY.
 */
struct db_transaction {
	struct db *db; /* NULL: none is open */
};
MUST_CHECK int db_begin(struct db *d, struct db_transaction *ret, struct error *err);
MUST_CHECK int db_commit(struct db_transaction *t, struct error *err);
void db_rollback(struct db_transaction *t);
#define auto_transaction CLEANUP(db_rollback)

/*
 * A prepared statement with its parameters bound. types: a letter for each argument: 't' const char
 * * (NULL is SQL's), 'n' const char * and size_t, 'i' int64_t, 'b' const void * and size_t. Kept
 * and used again by its text, so sql has to be a literal.
 */
struct db_rows;
MUST_CHECK int db_query(struct db *d, struct db_rows **ret, struct error *err, const char *sql,
	const char *types, ...);
/* 1: there is a row, 0: no more, -1. */
MUST_CHECK int db_next(struct db_rows *r, struct error *err);
/* Columns of the row, from 0; valid until the next db_next. NULL for SQL's NULL. */
const char *db_text(struct db_rows *r, int column);
size_t db_text_len(struct db_rows *r, int column); /* after db_text */
int64_t db_int(struct db_rows *r, int column);
const void *db_blob(struct db_rows *r, int column, size_t *ret_len);
void db_rows_cleanup(struct db_rows **r);
#define auto_rows CLEANUP(db_rows_cleanup)

/* A statement that gives no rows; *ret_changes (may be NULL) is how many rows it changed. */
MUST_CHECK int db_change(
	struct db *d, int *ret_changes, struct error *err, const char *sql, const char *types, ...);

#endif
