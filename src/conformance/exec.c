/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of running programs: streams, ends, environment, time-outs. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "conformance/tests.h"

#define SECOND_NS UINT64_C(1000000000)

/* `sh -c script` with what else x says. */
static bool run(struct test *t, const char *script, struct sandbox_exec x, struct ran *ret)
{
	char sh[] = "sh", c[] = "-c";
	autofree char *text = mem_strdup(script);
	char *const argv[] = {sh, c, text, NULL};

	x.argv = argv;
	return test_exec(t, x, ret);
}

static bool ended(struct test *t, const struct ran *r, enum sandbox_end end, int code)
{
	return test_expect(t,
		r->result.end == end && (end != SANDBOX_EXITED || r->result.code == code),
		"ended %s with %d, not %s with %d", sandbox_end_name(r->result.end), r->result.code,
		sandbox_end_name(end), code);
}

static void both_streams_are_kept_apart(struct test *t)
{
	auto_ran struct ran r = {0};

	if (run(t, "echo hi; echo boom >&2", (struct sandbox_exec){.input = -1}, &r) &&
		ended(t, &r, SANDBOX_EXITED, 0) && test_is_text(t, &r.out, "hi\n"))
		test_is_text(t, &r.err, "boom\n");
}

static void the_exit_status_is_the_programs(struct test *t)
{
	auto_ran struct ran seven = {0}, all = {0};

	if (run(t, "exit 7", (struct sandbox_exec){.input = -1}, &seven))
		ended(t, &seven, SANDBOX_EXITED, 7);
	if (run(t, "exit 255", (struct sandbox_exec){.input = -1}, &all))
		ended(t, &all, SANDBOX_EXITED, 255);
}

static void a_signal_is_told_as_one(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!run(t, "kill -TERM $$", (struct sandbox_exec){.input = -1}, &r))
		return;
	test_expect(t, r.result.end == SANDBOX_SIGNALLED && r.result.signal == SIGTERM,
		"ended %s, signal %d", sandbox_end_name(r.result.end), r.result.signal);
	test_expect(t, sandbox_result_status(&r.result) == 128 + SIGTERM, "the status is %d",
		sandbox_result_status(&r.result));
}

static void a_missing_program_is_not_its_own_127(struct test *t)
{
	char name[] = "sandglass-is-not-there", *const argv[] = {name, NULL};
	auto_ran struct ran missing = {0}, own = {0};

	if (test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, &missing))
		ended(t, &missing, SANDBOX_NOT_FOUND, 0);
	if (run(t, "exit 127", (struct sandbox_exec){.input = -1}, &own))
		ended(t, &own, SANDBOX_EXITED, 127);
}

static void a_file_without_x_is_not_its_own_126(struct test *t)
{
	char name[] = "./plain", *const argv[] = {name, NULL};
	auto_ran struct ran refused = {0}, own = {0};

	if (test_write(t, "plain", "#!/bin/sh\n") &&
		test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, &refused))
		ended(t, &refused, SANDBOX_NOT_EXECUTABLE, 0);
	if (run(t, "exit 126", (struct sandbox_exec){.input = -1}, &own))
		ended(t, &own, SANDBOX_EXITED, 126);
}

static void no_shell_reads_the_arguments(struct test *t)
{
	char name[] = "printf", form[] = "%s|", a[] = "$HOME", b[] = "a b", c[] = ";echo x",
	     d[] = "*";
	char *const argv[] = {name, form, a, b, c, d, NULL};
	auto_ran struct ran r = {0};

	if (test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, &r))
		test_is_text(t, &r.out, "$HOME|a b|;echo x|*|");
}

static void a_file_that_is_no_program_meets_no_shell(struct test *t)
{
	char name[] = "./odd", *const argv[] = {name, NULL};
	auto_ran struct ran r = {0};
	struct error err = {0};

	if (session_write(t->session, "odd", "echo ran by a shell\n", 20, 0755, &err) < 0)
		test_fail(t, "%s", err.msg);
	else if (test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, &r))
		ended(t, &r, SANDBOX_NOT_EXECUTABLE, 0);
}

static void it_starts_in_the_root(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_write(t, "here", "1") && test_sh(t, "cat here", &r))
		test_is_text(t, &r.out, "1");
}

static void cwd_may_be_relative_or_absolute(struct test *t)
{
	auto_ran struct ran relative = {0}, absolute = {0};

	if (!test_write(t, "d/e/f", "1"))
		return;
	if (run(t, "cat f", (struct sandbox_exec){.cwd = "d/e", .input = -1}, &relative))
		test_is_text(t, &relative.out, "1");
	if (run(t, "cat f", (struct sandbox_exec){.cwd = "/workspace/d/e", .input = -1}, &absolute))
		test_is_text(t, &absolute.out, "1");
}

static void cwd_refused(struct test *t, const char *cwd, enum errcode want)
{
	char name[] = "true", *const argv[] = {name, NULL};
	struct sandbox_exec x = {.argv = argv, .cwd = cwd, .input = -1};
	struct sandbox_result r;
	struct error err = {0};

	test_failed_with(t, session_exec(t->session, &x, &r, &err), &err, want, cwd);
}

static void a_bad_cwd_is_told(struct test *t)
{
	if (!test_write(t, "f", "1"))
		return;
	cwd_refused(t, "nowhere", ERR_MISSING);
	cwd_refused(t, "f", ERR_NOT_DIR);
	cwd_refused(t, "..", ERR_ESCAPE);
	cwd_refused(t, "/etc", ERR_ESCAPE);
}

static void an_empty_command_is_refused(struct test *t)
{
	char *const argv[] = {NULL};
	struct sandbox_exec x = {.argv = argv, .input = -1};
	struct sandbox_result r;
	struct error err = {0};

	test_failed_with(
		t, session_exec(t->session, &x, &r, &err), &err, ERR_USAGE, "an exec of nothing");
}

static void env_is_the_manifests_then_the_calls(struct test *t)
{
	char b[] = "B=call", *const env[] = {b, NULL};
	auto_ran struct ran r = {0};

	if (run(t, "echo $A $B $C", (struct sandbox_exec){.env = env, .input = -1}, &r))
		test_is_text(t, &r.out, "manifest call\n");
}

static void nothing_of_the_hosts_env_is_there(struct test *t)
{
	auto_ran struct ran r = {0};

	setenv("SANDGLASS_CONFORMANCE_SECRET", "leaks", 1);
	if (test_sh(t, "env | grep -c SECRET || true", &r))
		test_is_text(t, &r.out, "0\n");
	unsetenv("SANDGLASS_CONFORMANCE_SECRET");
}

static void the_fixed_env_is_there(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "echo $TZ $LC_ALL $HOME; case $PATH in */usr/bin*) echo path;; esac", &r))
		test_is_text(t, &r.out, "UTC C.UTF-8 /tmp\npath\n");
}

static void the_umask_is_fixed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "umask", &r))
		test_is_text(t, &r.out, "0022\n");
}

static void input_is_empty_unless_given(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "wc -c; readlink /proc/self/fd/0 >/dev/null", &r))
		test_is_text(t, &r.out, "0\n");
}

static bool with_input(struct test *t, const char *script, size_t len, struct ran *ret)
{
	autofree char *data = mem_alloc(len + 1);
	autoclose int fd = -1;
	struct error err = {0};

	memset(data, 'x', len);
	if (temp_open(&fd, &err) < 0 || fd_write_all(fd, data, len, &err) < 0 ||
		lseek(fd, 0, SEEK_SET) < 0)
		return test_fail(t, "%s", err.msg);
	return run(t, script, (struct sandbox_exec){.input = fd}, ret);
}

static void input_arrives_whole(struct test *t)
{
	auto_ran struct ran r = {0};

	if (with_input(t, "wc -c", 3000000, &r) && ended(t, &r, SANDBOX_EXITED, 0))
		test_is_text(t, &r.out, "3000000\n");
}

static void input_that_nobody_reads_hurts_nobody(struct test *t)
{
	auto_ran struct ran r = {0};

	if (with_input(t, "exec <&-; echo done", 3000000, &r) && ended(t, &r, SANDBOX_EXITED, 0))
		test_is_text(t, &r.out, "done\n");
}

static void output_is_bytes(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "printf '\\000\\377\\n\\001'", &r))
		test_expect(t, r.out.len == 4 && memcmp(r.out.data, "\0\377\n\1", 4) == 0,
			"%zu bytes of output", r.out.len);
}

static void both_streams_may_be_large(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "head -c 2000000 /dev/zero; head -c 1500000 /dev/zero >&2", &r))
		test_expect(t, r.out.len == 2000000 && r.err.len == 1500000, "%zu and %zu bytes",
			r.out.len, r.err.len);
}

static void output_over_the_cap_is_dropped_and_told(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!run(t, "head -c 100000 /dev/zero; echo err >&2",
		    (struct sandbox_exec){.input = -1, .output_max = 5000}, &r))
		return;
	ended(t, &r, SANDBOX_EXITED, 0);
	test_expect(t, r.out.len == 5000 && r.result.out_truncated && r.result.out_bytes == 100000,
		"%zu bytes came, of %llu", r.out.len, (unsigned long long)r.result.out_bytes);
	test_expect(t, !r.result.err_truncated && r.err.len == 4, "the other stream was cut too");
}

static void the_default_cap_is_16_mebibytes(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_sh(t, "head -c 17000000 /dev/zero", &r))
		test_expect(t, r.out.len == 16 << 20 && r.result.out_truncated, "%zu bytes came",
			r.out.len);
}

static void a_slow_program_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!run(t, "echo before; sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		return;
	ended(t, &r, SANDBOX_TIMED_OUT, 0);
	test_expect(t, sandbox_result_status(&r.result) == 124, "the status is %d",
		sandbox_result_status(&r.result));
	test_is_text(t, &r.out, "before\n");
	test_expect(t, r.result.duration_ns < 10 * SECOND_NS, "it took %llu ns",
		(unsigned long long)r.result.duration_ns);
}

static void a_time_out_kills_the_whole_tree(struct test *t)
{
	auto_ran struct ran r = {0}, after = {0};

	if (!run(t,
		    "(setsid sh -c 'sleep 2; echo alive > survivor' &) ; (sh -c 'sleep 2; echo "
		    "alive > survivor2' &); sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		return;
	ended(t, &r, SANDBOX_TIMED_OUT, 0);
	if (test_sh(t, "sleep 3; ls survivor* 2>/dev/null | wc -l", &after))
		test_is_text(t, &after.out, "0\n");
}

static void the_session_is_usable_after_a_time_out(struct test *t)
{
	auto_ran struct ran r = {0}, again = {0};

	if (run(t, "echo 1 > kept; sleep 30",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r) &&
		test_sh(t, "cat kept", &again))
		test_is_text(t, &again.out, "1\n");
}

static void a_program_that_ignores_signals_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (run(t, "trap '' TERM INT HUP; while :; do sleep 1; done",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		ended(t, &r, SANDBOX_TIMED_OUT, 0);
}

static void a_stopped_tree_is_killed(struct test *t)
{
	auto_ran struct ran r = {0};

	if (run(t, "sleep 60 & kill -STOP $!; kill -STOP $$",
		    (struct sandbox_exec){.input = -1, .timeout_ns = SECOND_NS / 2}, &r))
		ended(t, &r, SANDBOX_TIMED_OUT, 0);
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

	if (run(t, "sleep 30", (struct sandbox_exec){.input = -1}, &r))
		ended(t, &r, SANDBOX_TIMED_OUT, 0);
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
		run(t, "touch b; while [ ! -e a ]; do sleep 0.05; done; echo met",
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
	if (!run(t, script,
		    (struct sandbox_exec){
			    .input = -1, .deterministic = true, .timeout_ns = 60 * SECOND_NS},
		    &one) ||
		!run(t, script,
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
const struct test_row test_rows_exec[] = {
	ROW(both_streams_are_kept_apart),
	ROW(the_exit_status_is_the_programs),
	ROW(a_signal_is_told_as_one),
	ROW(a_missing_program_is_not_its_own_127),
	ROW(a_file_without_x_is_not_its_own_126),
	ROW(no_shell_reads_the_arguments),
	ROW(a_file_that_is_no_program_meets_no_shell),
	ROW(it_starts_in_the_root),
	ROW(cwd_may_be_relative_or_absolute),
	ROW(a_bad_cwd_is_told),
	ROW(an_empty_command_is_refused),
	{"env_is_the_manifests_then_the_calls", env_is_the_manifests_then_the_calls, 0,
		"{\"env\":{\"A\":\"manifest\",\"B\":\"manifest\"}}"},
	ROW(nothing_of_the_hosts_env_is_there),
	ROW(the_fixed_env_is_there),
	ROW(the_umask_is_fixed),
	ROW(input_is_empty_unless_given),
	ROW(input_arrives_whole),
	ROW(input_that_nobody_reads_hurts_nobody),
	ROW(output_is_bytes),
	ROW(both_streams_may_be_large),
	ROW(output_over_the_cap_is_dropped_and_told),
	ROW(the_default_cap_is_16_mebibytes),
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
