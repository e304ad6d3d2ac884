/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of a session's life: manifests, shutting down, destroying, staying apart. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "conformance/tests.h"

#define SECOND_NS UINT64_C(1000000000)

static void exec_fails(struct test *t, enum errcode want, const char *what)
{
	char name[] = "true", *const argv[] = {name, NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1};
	struct sandbox_result r;
	struct error err = {0};

	test_failed_with(t, session_exec(t->session, &x, &r, &err), &err, want, what);
}

static bool shut(struct test *t)
{
	struct error err = {0};

	return session_shutdown(t->store, t->id, &err) == 0 ||
	       test_fail(t, "shutdown: %s", err.msg);
}

static void shutting_down_twice_is_success(struct test *t)
{
	if (shut(t))
		shut(t);
}

static void nothing_runs_after_a_shutdown(struct test *t)
{
	struct error err = {0};

	if (!test_write(t, "f", "1") || !shut(t))
		return;
	exec_fails(t, ERR_CLOSED, "an exec after the shutdown");
	test_failed_with(t, session_write(t->session, "g", "1", 1, 0644, &err), &err, ERR_CLOSED,
		"a write after the shutdown");
	test_holds(t, "f", "1");
}

static bool destroy(struct test *t)
{
	struct error err = {0};

	return session_destroy(t->store, t->id, &err) == 0 || test_fail(t, "destroy: %s", err.msg);
}

static void destroying_twice_is_success(struct test *t)
{
	if (destroy(t))
		destroy(t);
}

static void a_destroyed_session_is_closed(struct test *t)
{
	auto_session struct session *again = NULL;
	autofree char *data = NULL;
	struct error err = {0};
	size_t len;

	if (!test_write(t, "f", "1") || !destroy(t))
		return;
	exec_fails(t, ERR_CLOSED, "an exec after destroy");
	test_failed_with(t, session_read(t->session, "f", 100, &data, &len, &err), &err, ERR_CLOSED,
		"a read after destroy");
	test_failed_with(t, session_open(t->store, t->id, &again, &err), &err, ERR_CLOSED,
		"opening it again");
}

static void an_unknown_session_is_missing(struct test *t)
{
	struct error err = {0};

	test_failed_with(t, session_destroy(t->store, "s-000000000000", &err), &err, ERR_MISSING,
		"destroying an unknown one");
	test_failed_with(t, session_shutdown(t->store, "../../etc", &err), &err, ERR_MISSING,
		"an id that is none");
}

static void a_shutdown_ends_what_runs(struct test *t)
{
	char sh[] = "sh", c[] = "-c", text[] = "touch started; sleep 60";
	char *const argv[] = {sh, c, text, NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1};
	struct sandbox_result r = {0};
	struct error err = {0};
	pid_t pid = fork();

	if (pid == 0) {
		autofree char *data = NULL;
		size_t len;

		for (int i = 0;
			i < 200 && session_read(t->session, "started", 10, &data, &len, &err) < 0;
			i++)
			usleep(50000);
		_exit(session_shutdown(t->store, t->id, &err) < 0);
	}
	if (session_exec(t->session, &x, &r, &err) < 0)
		test_fail(t, "exec: %s", err.msg);
	else
		test_expect(t, r.end == SANDBOX_STOPPED && r.duration_ns < 30 * SECOND_NS,
			"it ended %s", sandbox_end_name(r.end));
	test_expect(t, pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
}

static void two_sessions_are_apart(struct test *t)
{
	char id[SESSION_ID_SIZE];
	struct session *other = NULL, *own = t->session;
	auto_ran struct ran r = {0};

	if (!test_write(t, "mine", "1") || !test_other(t, NULL, id, &other))
		return;
	test_expect(t, strcmp(id, t->id) != 0, "two sessions of one id");
	t->session = other;
	if (test_sh(t, "ls -A | grep -v '^.git$' | wc -l; echo theirs > theirs", &r))
		test_is_text(t, &r.out, "0\n");
	t->session = own;
	test_end_other(t, id, other);
	test_holds(t, "mine", "1");
}

static void files_of_the_manifest_are_there(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_holds(t, "a/b.txt", "text\n") && test_sh(t, "./run.sh; stat -c %a secret", &r))
		test_is_text(t, &r.out, "ran\n600\n");
}

static void the_root_is_the_manifests(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_write(t, "/srv/work/f", "1") && test_holds(t, "f", "1") && test_sh(t, "cat f", &r))
		test_is_text(t, &r.out, "1");
}

static void create_fails(struct test *t, const char *text, enum errcode want, const char *names)
{
	auto_manifest struct manifest m = {0};
	char id[SESSION_ID_SIZE];
	struct error err = {0};
	int r = manifest_parse(text, strlen(text), "/", &m, &err);

	if (r == 0)
		r = session_create(t->store, t->backend, &m, 0, id, &err);
	if (test_failed_with(t, r, &err, want, text))
		test_expect(t, strstr(err.msg, names) != NULL, "%s: '%s' does not name '%s'", text,
			err.msg, names);
}

static void a_wrong_manifest_names_its_key(struct test *t)
{
	create_fails(t, "{\"rooot\":\"/x\"}", ERR_FORMAT, "rooot");
	create_fails(t, "{\"root\":7}", ERR_FORMAT, "root");
	create_fails(t, "{\"root\":\"relative\"}", ERR_FORMAT, "root");
	create_fails(t, "{\"root\":\"/proc/x\"}", ERR_FORMAT, "/proc");
	create_fails(t, "{\"root\":\"/proc/1/../2/cwd\"}", ERR_FORMAT, "/proc");
	create_fails(t, "{\"root\":\"/usr/x\"}", ERR_FORMAT, "/usr");
	create_fails(t, "{\"root\":\"/etc\"}", ERR_FORMAT, "/etc");
	create_fails(t, "{\"timeout_seconds\":\"1\"}", ERR_FORMAT, "timeout_seconds");
	create_fails(t, "{\"files\":[{\"path\":\"f\"}]}", ERR_FORMAT, "files");
	create_fails(t, "{\"files\":[{\"path\":\"f\",\"content\":\"\",\"mode\":\"9\"}]}",
		ERR_FORMAT, "mode");
	create_fails(t, "{\"env\":{\"A\":1}}", ERR_FORMAT, "env");
	create_fails(t, "{\"requires\":[\"wings\"]}", ERR_FORMAT, "wings");
	create_fails(t, "{\"options\":{\"speed\":1}}", ERR_FORMAT, "speed");
	create_fails(t, "{\"options\":{\"speed\":1}}", ERR_FORMAT, t->backend);
	create_fails(t, "{\"options\":[]}", ERR_FORMAT, "options");
}

static void a_missing_capability_is_told(struct test *t)
{
	create_fails(t, "{\"requires\":[\"gpu\"]}", ERR_UNSUPPORTED, "gpu");
}

static void a_file_of_the_manifest_cannot_escape(struct test *t)
{
	create_fails(t, "{\"files\":[{\"path\":\"../f\",\"content\":\"\"}]}", ERR_ESCAPE, "../f");
}

static void a_failed_create_leaves_nothing(struct test *t)
{
	struct session_gc gc = {.is_dry = true};
	struct error err = {0};

	create_fails(t,
		"{\"files\":[{\"path\":\"a\",\"content\":\"\"},{\"path\":\"/etc/"
		"f\",\"content\":\"\"}]}",
		ERR_ESCAPE, "/etc/f");
	if (session_gc(t->store, &gc, &err) < 0)
		test_fail(t, "gc: %s", err.msg);
	test_expect(t, gc.half_made == 0, "%llu half-made sessions are left",
		(unsigned long long)gc.half_made);
}

struct looked {
	const char *id;
	bool found;
};

static int look(void *arg, const struct session_record *r, struct error *err)
{
	struct looked *l = arg;

	(void)err;
	l->found = l->found || strcmp(r->id, l->id) == 0;
	return 0;
}

static void a_session_is_listed_until_it_is_destroyed(struct test *t)
{
	struct looked before = {t->id, false}, after = {t->id, false};
	struct error err = {0};

	if (session_list(t->store, false, look, &before, &err) < 0 || !destroy(t) ||
		session_list(t->store, false, look, &after, &err) < 0)
		test_fail(t, "%s", err.msg);
	test_expect(t, before.found && !after.found, "listed before: %d, after: %d", before.found,
		after.found);
}

static void a_session_ends_with_its_owner(struct test *t)
{
	auto_manifest struct manifest m = {0};
	auto_session struct session *gone = NULL;
	struct session_gc gc = {0};
	char id[SESSION_ID_SIZE];
	struct error err = {0};
	int hold[2];
	pid_t pid;

	if (pipe(hold) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		char c;

		close(hold[1]);
		_exit(read(hold[0], &c, 1) < 0);
	}
	close(hold[0]);
	manifest_init(&m);
	if (session_create(t->store, t->backend, &m, pid, id, &err) < 0)
		test_fail(t, "create: %s", err.msg);
	close(hold[1]);
	waitpid(pid, NULL, 0);
	if (session_gc(t->store, &gc, &err) < 0)
		test_fail(t, "gc: %s", err.msg);
	test_failed_with(t, session_open(t->store, id, &gone, &err), &err, ERR_CLOSED,
		"a session without its owner");
	/* What has no owner to lose stays. */
	if (test_write(t, "f", "1"))
		test_holds(t, "f", "1");
}

#define ROW(function) \
	{ \
#function, function, 0, NULL \
	}
const struct test_row test_rows_sessions[] = {
	ROW(shutting_down_twice_is_success),
	ROW(nothing_runs_after_a_shutdown),
	ROW(destroying_twice_is_success),
	ROW(a_destroyed_session_is_closed),
	ROW(an_unknown_session_is_missing),
	ROW(a_shutdown_ends_what_runs),
	ROW(two_sessions_are_apart),
	{"files_of_the_manifest_are_there", files_of_the_manifest_are_there, 0,
		"{\"files\":[{\"path\":\"a/b.txt\",\"content\":\"text\\n\"},"
		"{\"path\":\"run.sh\",\"content\":\"#!/bin/sh\\necho ran\\n\",\"mode\":\"0755\"},"
		"{\"path\":\"/workspace/"
		"secret\",\"content\":{\"hex\":\"00ff\"},\"mode\":\"0600\"}]}"},
	{"the_root_is_the_manifests", the_root_is_the_manifests, 0, "{\"root\":\"/srv/work\"}"},
	ROW(a_wrong_manifest_names_its_key),
	ROW(a_missing_capability_is_told),
	ROW(a_file_of_the_manifest_cannot_escape),
	ROW(a_failed_create_leaves_nothing),
	ROW(a_session_is_listed_until_it_is_destroyed),
	ROW(a_session_ends_with_its_owner),
	{0},
};
