/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of what bounds a program: time-outs, others beside it, determinism. */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "conformance/tests.h"

#define SECOND_NS UINT64_C(1000000000)

static void a_slow_program_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!test_run(t, "echo before; sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		return;
	test_ended(t, &r, SANDBOX_TIMED_OUT, 0);
	test_expect(t, sandbox_result_status(&r.result) == 124, "the status is %d",
		sandbox_result_status(&r.result));
	test_is_text(t, &r.out, "before\n");
	test_expect(t, r.result.duration_ns < 10 * SECOND_NS, "it took %llu ns",
		(unsigned long long)r.result.duration_ns);
}

static void a_time_out_kills_the_whole_tree(struct test *t)
{
	auto_ran struct ran r = {0}, after = {0};

	if (!test_run(t,
		    "(setsid sh -c 'sleep 2; echo alive > survivor' &) ; (sh -c 'sleep 2; echo "
		    "alive > survivor2' &); sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		return;
	test_ended(t, &r, SANDBOX_TIMED_OUT, 0);
	if (test_sh(t, "sleep 3; ls survivor* 2>/dev/null | wc -l", &after))
		test_is_text(t, &after.out, "0\n");
}

static void the_session_is_usable_after_a_time_out(struct test *t)
{
	auto_ran struct ran r = {0}, again = {0};

	if (test_run(t, "echo 1 > kept; sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r) &&
		test_sh(t, "cat kept", &again))
		test_is_text(t, &again.out, "1\n");
}

static void a_program_that_ignores_signals_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_run(t, "trap '' TERM INT HUP; while :; do sleep 1; done",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		test_ended(t, &r, SANDBOX_TIMED_OUT, 0);
}

static void a_stopped_tree_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_run(t, "sleep 60 & kill -STOP $!; kill -STOP $$",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		test_ended(t, &r, SANDBOX_TIMED_OUT, 0);
}

static void what_is_left_running_ends_with_the_program(struct test *t)
{
	auto_ran struct ran r = {0}, after = {0};

	if (!test_sh(t, "(setsid sh -c 'sleep 2; echo alive > late' >/dev/null 2>&1 &); echo done",
		    &r))
		return;
	test_expect(t, r.result.duration_ns < 2 * SECOND_NS, "it was waited for");
	if (test_sh(t, "sleep 3; ls late 2>/dev/null | wc -l", &after))
		test_is_text(t, &after.out, "0\n");
}

static void the_manifests_time_out_holds(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_run(t, "sleep 30", (struct sandbox_exec){.input = -1}, &r))
		test_ended(t, &r, SANDBOX_TIMED_OUT, 0);
}

static void the_duration_is_told(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "sleep 1", &r))
		test_expect(t,
			r.result.duration_ns >= SECOND_NS && r.result.duration_ns < 20 * SECOND_NS,
			"%llu ns", (unsigned long long)r.result.duration_ns);
}

/* The other process's verdict is its exit status. */
static int exec_elsewhere(struct test *t, const char *script)
{
	auto_session_store struct session_store *store = NULL;
	auto_session struct session *s = NULL;
	struct error err = {0};
	auto_ran struct ran r = {0};

	if (session_store_open(&store, &err) < 0 || session_open(store, t->id, &s, &err) < 0)
		return 1;
	t->session = s;
	return test_sh(t, script, &r) ? 0 : 1;
}

static void programs_run_side_by_side(struct test *t)
{
	auto_ran struct ran r = {0};
	int status = 0;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(exec_elsewhere(t, "touch a; while [ ! -e b ]; do sleep 0.05; done"));
	if (pid > 0 &&
		test_run(t, "touch b; while [ ! -e a ]; do sleep 0.05; done; echo met",
			(struct sandbox_exec){.input = -1, .timeout_ns = 20 * SECOND_NS}, &r))
		test_is_text(t, &r.out, "met\n");
	test_expect(t, pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
		"the other exec failed");
}

static void deterministic_runs_are_refused(struct test *t)
{
	char name[] = "true", *const argv[] = {name, NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1, .deterministic = true};
	struct sandbox_result r;
	struct error err = {0};

	test_failed_with(t, session_exec(t->session, &x, &r, &err), &err, ERR_UNSUPPORTED,
		"a deterministic exec");
}

static void deterministic_runs_agree_or_are_refused(struct test *t)
{
	static const char script[] =
		"date +%s%N; cat /proc/sys/kernel/random/uuid; sleep 3600; date";
	auto_ran struct ran one = {0}, other = {0};
	const struct sandbox_driver *d;
	struct error err = {0};

	if (sandbox_driver_find(t->backend, &d, &err) < 0) {
		test_fail(t, "%s", err.msg);
		return;
	}
	if (!(d->capabilities & SANDBOX_DETERMINISTIC)) {
		deterministic_runs_are_refused(t);
		return;
	}
	if (!test_run(t, script,
		    (struct sandbox_exec){
			    .input = -1, .deterministic = true, .timeout_ns = 60 * SECOND_NS},
		    &one) ||
		!test_run(t, script,
			(struct sandbox_exec){
				.input = -1, .deterministic = true, .timeout_ns = 60 * SECOND_NS},
			&other))
		return;
	test_expect(t, one.result.enforced, "not enforced: %s", one.result.detail);
	test_expect(t,
		one.out.len > 50 && one.out.len == other.out.len &&
			memcmp(one.out.data, other.out.data, one.out.len) == 0,
		"two runs printed different things");
}

static void a_file_is_no_input_from_outside(struct test *t)
{
	char name[] = "cat", *const argv[] = {name, NULL};
	autoclose int fd = memfd_create("input", MFD_CLOEXEC);
	auto_ran struct ran r = {0};
	const struct sandbox_driver *d;
	struct error err = {0};

	if (sandbox_driver_find(t->backend, &d, &err) < 0 || fd < 0 ||
		fd_write_all(fd, "before file", 11, &err) < 0 || lseek(fd, 7, SEEK_SET) < 0) {
		test_fail(t, "%s", err.msg);
		return;
	}
	if (!(d->capabilities & SANDBOX_DETERMINISTIC)) {
		deterministic_runs_are_refused(t);
		return;
	}
	if (!test_exec(t,
		    (struct sandbox_exec){.argv = argv,
			    .input = fd,
			    .deterministic = true,
			    .timeout_ns = 60 * SECOND_NS},
		    &r))
		return;
	test_is_text(t, &r.out, "file");
	test_expect(t, r.result.enforced, "not enforced: %s", r.result.detail);
}

#define ROW(function) \
	{ \
#function, function, 0, NULL \
	}
const struct test_row test_rows_bounds[] = {
	ROW(a_slow_program_is_killed),
	ROW(a_time_out_kills_the_whole_tree),
	ROW(the_session_is_usable_after_a_time_out),
	ROW(a_program_that_ignores_signals_is_killed),
	ROW(a_stopped_tree_is_killed),
	ROW(what_is_left_running_ends_with_the_program),
	{"the_manifests_time_out_holds", the_manifests_time_out_holds, 0,
		"{\"timeout_seconds\":1}"},
	ROW(the_duration_is_told),
	ROW(programs_run_side_by_side),
	ROW(deterministic_runs_agree_or_are_refused),
	ROW(a_file_is_no_input_from_outside),
	{0},
};
