/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the suite are made of. Each runs in a fresh session, as `t->session`. */
#ifndef CONFORMANCE_TESTS_H
#define CONFORMANCE_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "session/session.h"

struct test {
	struct session_store *store;
	const char *backend;
	const char *forks; /* each session is a fork, made in this way; or NULL */
	char id[SESSION_ID_SIZE];
	struct session *session;
	char why[400]; /* of the first failure; empty: passed */
};

struct test_row {
	const char *name;
	void (*run)(struct test *t);
	unsigned needs;	      /* capabilities beyond file_rw and exec */
	const char *manifest; /* JSON of its session, or NULL */
};

/* Rows of each file, ended by a NULL name. */
extern const struct test_row test_rows_files[], test_rows_exec[], test_rows_bounds[],
	test_rows_sessions[], test_rows_snapshots[];

/* Notes the first failure; false, so that `return` reads well after it. */
bool test_fail(struct test *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Notes a failure unless it holds; what it is. */
bool test_expect(struct test *t, bool holds, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A program's run, its output kept. test_ran_finish. */
struct ran {
	struct sandbox_result result;
	struct bytes out, err;
};
void ran_finish(struct ran *r);
#define auto_ran CLEANUP(ran_finish)

/* Runs x with its streams kept; false and a failure when it could not be run at all. */
bool test_exec(struct test *t, struct sandbox_exec x, struct ran *ret);
/* `sh -c script` with what else x says. */
bool test_run(struct test *t, const char *script, struct sandbox_exec x, struct ran *ret);
/* It ended so; code counts for SANDBOX_EXITED alone. */
bool test_ended(struct test *t, const struct ran *r, enum sandbox_end end, int code);
/* `sh -c script`, which has to exit with 0. */
bool test_sh(struct test *t, const char *script, struct ran *ret);
/* The output is this text. */
bool test_is_text(struct test *t, const struct bytes *got, const char *want);

bool test_write(struct test *t, const char *path, const char *text);
/* The file is this text. */
bool test_holds(struct test *t, const char *path, const char *want);
/* The call failed with this code; r is what it returned. */
bool test_failed_with(
	struct test *t, int r, const struct error *err, enum errcode want, const char *what);
/* Another session of the same backend; destroyed by test_end_other. */
bool test_other(
	struct test *t, const char *manifest, char ret_id[SESSION_ID_SIZE], struct session **ret);
void test_end_other(struct test *t, const char *id, struct session *s);

#endif
