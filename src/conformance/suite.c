/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the suite, and what its tests are made of: see conformance.h and tests.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "conformance/conformance.h"
#include "conformance/tests.h"

bool test_fail(struct test *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!t->why[0])
		vsnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	return false;
}

bool test_expect(struct test *t, bool holds, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!holds && !t->why[0])
		vsnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	return holds;
}

void ran_finish(struct ran *r)
{
	bytes_finish(&r->out);
	bytes_finish(&r->err);
}

static int keep(
	void *arg, enum sandbox_stream stream, const void *data, size_t len, struct error *err)
{
	struct ran *r = arg;

	(void)err;
	bytes_put(stream == SANDBOX_OUT ? &r->out : &r->err, data, len);
	return 0;
}

bool test_exec(struct test *t, struct sandbox_exec x, struct ran *ret)
{
	struct error err = {0};

	*ret = (struct ran){0};
	x.sink = keep;
	x.sink_arg = ret;
	if (session_exec(t->session, &x, &ret->result, &err) == 0)
		return true;
	return test_fail(t, "exec '%s': %s", x.argv[0], err.msg);
}

bool test_run(struct test *t, const char *script, struct sandbox_exec x, struct ran *ret)
{
	char sh[] = "sh", c[] = "-c";
	autofree char *text = mem_strdup(script);
	char *const argv[] = {sh, c, text, NULL};

	x.argv = argv;
	return test_exec(t, x, ret);
}

bool test_ended(struct test *t, const struct ran *r, enum sandbox_end end, int code)
{
	return test_expect(t,
		r->result.end == end && (end != SANDBOX_EXITED || r->result.code == code),
		"ended %s with %d, not %s with %d", sandbox_end_name(r->result.end), r->result.code,
		sandbox_end_name(end), code);
}

bool test_sh(struct test *t, const char *script, struct ran *ret)
{
	char sh[] = "sh", c[] = "-c";
	autofree char *text = mem_strdup(script);
	char *const argv[] = {sh, c, text, NULL};

	if (!test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, ret))
		return false;
	return test_expect(t, ret->result.end == SANDBOX_EXITED && ret->result.code == 0,
		"'%.100s' ended %s with %d: %.*s", script, sandbox_end_name(ret->result.end),
		ret->result.code, (int)(ret->err.len < 150 ? ret->err.len : 150),
		(const char *)ret->err.data);
}

bool test_is_text(struct test *t, const struct bytes *got, const char *want)
{
	autofree char *safe = str_printable((const char *)got->data, got->len, 100);

	return test_expect(t,
		got->len == strlen(want) &&
			memcmp(got->data ? got->data : (const void *)"", want, got->len) == 0,
		"got '%s', not '%.100s'", safe, want);
}

bool test_write(struct test *t, const char *path, const char *text)
{
	struct error err = {0};

	return session_write(t->session, path, text, strlen(text), 0644, &err) == 0 ||
	       test_fail(t, "write '%s': %s", path, err.msg);
}

bool test_holds(struct test *t, const char *path, const char *want)
{
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	if (session_read(t->session, path, 1 << 20, &data, &len, &err) < 0)
		return test_fail(t, "read '%s': %s", path, err.msg);
	return test_expect(t, len == strlen(want) && memcmp(data, want, len) == 0,
		"'%s' holds '%.60s', not '%.60s'", path, data, want);
}

bool test_failed_with(
	struct test *t, int r, const struct error *err, enum errcode want, const char *what)
{
	if (r == 0)
		return test_fail(t, "%s succeeded", what);
	return test_expect(t, err->code == want, "%s: another error (%d) than wanted (%d): %s",
		what, (int)err->code, (int)want, err->msg);
}

/* A fork in place of the session, which goes. */
static int make_fork(struct test *t, char id[SESSION_ID_SIZE], struct error *err)
{
	char ids[1][SESSION_ID_SIZE], *parent = id;
	auto_session struct session *s = NULL, *made = NULL;
	const char *how;

	if (session_open(t->store, parent, &s, err) < 0 || session_fork(s, 1, 0, ids, err) < 0 ||
		session_destroy(t->store, parent, err) < 0)
		return -1;
	memcpy(id, ids[0], SESSION_ID_SIZE);
	if (session_open(t->store, id, &made, err) < 0)
		return -1;
	how = session_record(made)->made;
	return strcmp(how, t->forks) == 0
		       ? 0
		       : error_set(err, ERR_UNSUPPORTED, "forks are made by %s here", how);
}

static int make_session(struct test *t, const char *manifest, char ret_id[SESSION_ID_SIZE],
	struct session **ret, struct error *err)
{
	auto_manifest struct manifest m = {0};
	const char *text = manifest ? manifest : "{}";

	if (manifest_parse(text, strlen(text), "/", &m, err) < 0)
		return -1;
	if (t->forks && !m.options)
		m.options = str_format("{\"fork\":\"%s\"}", t->forks);
	if (session_create(t->store, t->backend, &m, 0, ret_id, err) < 0 ||
		(t->forks && make_fork(t, ret_id, err) < 0))
		return -1;
	if (session_open(t->store, ret_id, ret, err) == 0)
		return 0;
	return -1;
}

bool test_other(
	struct test *t, const char *manifest, char ret_id[SESSION_ID_SIZE], struct session **ret)
{
	struct error err = {0};

	*ret = NULL;
	return make_session(t, manifest, ret_id, ret, &err) == 0 ||
	       test_fail(t, "another session: %s", err.msg);
}

void test_end_other(struct test *t, const char *id, struct session *s)
{
	struct error err = {0};

	session_close(s);
	if (session_destroy(t->store, id, &err) < 0)
		test_fail(t, "destroy '%s': %s", id, err.msg);
}

static void run_row(struct test *t, const struct test_row *row)
{
	struct error err = {0};

	if (make_session(t, row->manifest, t->id, &t->session, &err) < 0) {
		test_fail(t, "create: %s", err.msg);
		return;
	}
	row->run(t);
	session_close(t->session);
	if (session_destroy(t->store, t->id, &err) < 0)
		test_fail(t, "destroy: %s", err.msg);
}

/* The capabilities that the row needs and the driver lacks, as their first name; NULL: none. */
static const char *lacks(const struct test_row *row, const struct sandbox_driver *d)
{
	unsigned missing = (row->needs | SANDBOX_FILE_RW | SANDBOX_EXEC) & ~d->capabilities;

	for (unsigned i = 0; i < SANDBOX_CAPABILITY_COUNT; i++)
		if (missing & 1U << i)
			return sandbox_capability_name(i);
	return NULL;
}

int conformance_run(struct session_store *s, const char *backend, const char *only,
	const char *forks, conformance_told *told, void *arg, struct conformance_counts *ret,
	struct error *err)
{
	static const struct test_row *const lists[] = {test_rows_files, test_rows_exec,
		test_rows_bounds, test_rows_sessions, test_rows_snapshots};
	const struct sandbox_driver *d;

	*ret = (struct conformance_counts){0};
	if (sandbox_driver_find(backend, &d, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct test_row *row = lists[i]; row->name; row++) {
			struct test t = {.store = s, .backend = backend, .forks = forks};
			const char *lack = lacks(row, d);

			if (only && !strstr(row->name, only))
				continue;
			if (lack) {
				snprintf(t.why, sizeof(t.why), "the backend has no %s", lack);
				ret->skipped++;
				told(arg, row->name, CONFORMANCE_SKIPPED, t.why);
				continue;
			}
			run_row(&t, row);
			++*(t.why[0] ? &ret->failed : &ret->passed);
			told(arg, row->name, t.why[0] ? CONFORMANCE_FAILED : CONFORMANCE_PASSED,
				t.why);
		}
	if (ret->passed + ret->failed + ret->skipped == 0)
		return error_set(err, ERR_USAGE, "--only '%.200s': no test's name holds this",
			only ? only : "");
	return 0;
}
