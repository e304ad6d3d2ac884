/* SPDX-License-Identifier: Apache-2.0 */
/* The suite's tests of running programs: streams, ends, environment. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/temp.h"
#include "conformance/tests.h"

#define SECOND_NS UINT64_C(1000000000)

static void both_streams_are_kept_apart(struct test *t)
{
	auto_ran struct ran r = {0};

	if (test_run(t, "echo hi; echo boom >&2", (struct sandbox_exec){.input = -1}, &r) &&
		test_ended(t, &r, SANDBOX_EXITED, 0) && test_is_text(t, &r.out, "hi\n"))
		test_is_text(t, &r.err, "boom\n");
}

static void the_exit_status_is_the_programs(struct test *t)
{
	auto_ran struct ran seven = {0}, all = {0};

	if (test_run(t, "exit 7", (struct sandbox_exec){.input = -1}, &seven))
		test_ended(t, &seven, SANDBOX_EXITED, 7);
	if (test_run(t, "exit 255", (struct sandbox_exec){.input = -1}, &all))
		test_ended(t, &all, SANDBOX_EXITED, 255);
}

static void a_signal_is_told_as_one(struct test *t)
{
	auto_ran struct ran r = {0};

	if (!test_run(t, "kill -TERM $$", (struct sandbox_exec){.input = -1}, &r))
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
		test_ended(t, &missing, SANDBOX_NOT_FOUND, 0);
	if (test_run(t, "exit 127", (struct sandbox_exec){.input = -1}, &own))
		test_ended(t, &own, SANDBOX_EXITED, 127);
}

static void a_file_without_x_is_not_its_own_126(struct test *t)
{
	char name[] = "./plain", *const argv[] = {name, NULL};
	auto_ran struct ran refused = {0}, own = {0};

	if (test_write(t, "plain", "#!/bin/sh\n") &&
		test_exec(t, (struct sandbox_exec){.argv = argv, .input = -1}, &refused))
		test_ended(t, &refused, SANDBOX_NOT_EXECUTABLE, 0);
	if (test_run(t, "exit 126", (struct sandbox_exec){.input = -1}, &own))
		test_ended(t, &own, SANDBOX_EXITED, 126);
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
		test_ended(t, &r, SANDBOX_NOT_EXECUTABLE, 0);
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
	if (test_run(t, "cat f", (struct sandbox_exec){.cwd = "d/e", .input = -1}, &relative))
		test_is_text(t, &relative.out, "1");
	if (test_run(t, "cat f", (struct sandbox_exec){.cwd = "/workspace/d/e", .input = -1},
		    &absolute))
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

	if (test_run(t, "echo $A $B $C", (struct sandbox_exec){.env = env, .input = -1}, &r))
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
	return test_run(t, script, (struct sandbox_exec){.input = fd}, ret);
}

static void input_arrives_whole(struct test *t)
{
	auto_ran struct ran r = {0};

	if (with_input(t, "wc -c", 3000000, &r) && test_ended(t, &r, SANDBOX_EXITED, 0))
		test_is_text(t, &r.out, "3000000\n");
}

static void input_that_nobody_reads_hurts_nobody(struct test *t)
{
	auto_ran struct ran r = {0};

	if (with_input(t, "exec <&-; echo done", 3000000, &r) &&
		test_ended(t, &r, SANDBOX_EXITED, 0))
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

	if (!test_run(t, "head -c 100000 /dev/zero; echo err >&2",
		    (struct sandbox_exec){.input = -1, .output_max = 5000}, &r))
		return;
	test_ended(t, &r, SANDBOX_EXITED, 0);
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
	{0},
};
