/* SPDX-License-Identifier: Apache-2.0 */
/* One run, against a supervisor that the test plays: frames, streams, time-outs, deaths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/temp.h"
#include "fake_launch.h"
#include "run/one.h"
#include "wire/frame.h"

static char said[4096];

static void remember(const char *line)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", line);
}

/* ---- the supervisor's side, in the child ---- */

static void must(int r)
{
	if (r < 0)
		_exit(80);
}

static void take_launch(void)
{
	auto_bytes struct bytes buf = {0};
	auto_contract struct contract c = {0};
	auto_conditions struct conditions k = {0};
	struct error err;
	uint32_t type;

	if (frame_recv(3, &type, &buf, &err) != 1 || type != FRAME_LAUNCH ||
		contract_decode(buf.data, buf.len, &c, &k, &err) < 0 || !k.memory_watch)
		_exit(81);
}

static void send_words(enum frame_type type, int count, ...)
{
	auto_bytes struct bytes out = {0};
	struct error err;
	va_list ap;

	va_start(ap, count);
	for (int i = 0; i < count; i++)
		bytes_put_u32(&out, va_arg(ap, unsigned));
	va_end(ap);
	must(frame_send(3, type, out.data, out.len, &err));
}

static void send_text(enum frame_type type, int count, uint32_t a, uint32_t b, const char *text)
{
	auto_bytes struct bytes out = {0};
	struct error err;

	if (count > 0)
		bytes_put_u32(&out, a);
	if (count > 1)
		bytes_put_u32(&out, b);
	bytes_put_string(&out, text);
	must(frame_send(3, type, out.data, out.len, &err));
}

static void start(void)
{
	take_launch();
	send_words(FRAME_STARTED, 1, 64u);
}

static void exits_with_7(void)
{
	start();
	send_text(FRAME_EXEC, 1, 1, 0, "/usr/bin/true");
	must((int)write(1, "out\n", 4));
	must((int)write(2, "err\n", 4));
	send_words(FRAME_EXIT, 3, 0u, 7u, 0u);
}

static void is_killed(void)
{
	start();
	send_words(FRAME_EXIT, 3, 1u, 9u, 1u);
}

static void dies(void)
{
	start();
	raise(SIGKILL);
}

static void send_waiter(void)
{
	auto_bytes struct bytes out = {0};
	struct error err;

	bytes_put_u32(&out, 1);
	bytes_put_u32(&out, 64);
	bytes_put_u32(&out, 65);
	bytes_put_string(&out, "a\x1b name");
	bytes_put_string(&out, "read");
	bytes_put_string(&out, "3, 0x10, 1");
	bytes_put_string(&out, "descriptor 3, a pipe");
	must(frame_send(3, FRAME_WAITER, out.data, out.len, &err));
}

static void deadlocks(void)
{
	start();
	send_waiter();
	send_text(FRAME_DEADLOCK, 0, 0, 0, "task 1 waits for a pipe");
	send_words(FRAME_EXIT, 3, 1u, 9u, 0u);
}

static void touches_holes(void)
{
	start();
	send_text(FRAME_NOT_ENFORCED, 2, REASON_EXTERNAL_INPUT, 1, "it read \x1b[31msomething");
	send_text(FRAME_NOT_ENFORCED, 2, REASON_EXTERNAL_INPUT, 0, "it read something");
	send_text(FRAME_ASSUMPTION, 1, REASON_NO_PMU, 0, "no counters");
	send_words(FRAME_EXIT, 3, 0u, 0u, 0u);
}

static void is_not_found(void)
{
	take_launch();
	send_text(FRAME_FAILED, 2, ERR_NOTFOUND, 2, "'x' was not found in the sandbox");
}

static void sends_nonsense(void)
{
	start();
	must((int)write(3, "\xff\xff\xff\xff\x00\x00\x00\x00", 8));
	pause();
}

static void sends_a_short_exit(void)
{
	start();
	send_words(FRAME_EXIT, 2, 0u, 0u);
	pause();
}

static void sends_too_much(void)
{
	start();
	must((int)write(3, "\x08\x00\x00\x00\xff\xff\xff\x7f", 8));
	pause();
}

static void writes_much(void)
{
	static char block[65536];

	start();
	memset(block, 'y', sizeof(block));
	for (int i = 0; i < 64; i++)
		must((int)write(1, block, sizeof(block)));
	send_words(FRAME_EXIT, 3, 0u, 0u, 0u);
}

static void waits(void)
{
	start();
	pause();
	pause();
}

/* Asks for input without a time-out until it ends. */
static void copies_input(void)
{
	uint32_t flags = 0;

	start();
	for (unsigned request = 1; !(flags & FRAME_INPUT_END); request++) {
		auto_bytes struct bytes answer = {0};
		struct error err;
		char buf[4096];
		uint32_t type;
		ssize_t n;

		send_words(FRAME_INPUT_ASK, 7, request, 0u, 5u, 0u, ~0u, ~0u, 1u);
		if (frame_recv(3, &type, &answer, &err) != 1 || type != FRAME_INPUT ||
			answer.len != 24 || bytes_load_u64(answer.data) != request)
			_exit(83);
		flags = bytes_load_u32(answer.data + 16);
		n = read(0, buf, sizeof(buf));
		if (n != (ssize_t)bytes_load_u32(answer.data + 20))
			_exit(84);
		must((int)write(1, buf, (size_t)n));
	}
	send_words(FRAME_EXIT, 3, 0u, 0u, 0u);
}

static void ends_on_signal(void)
{
	auto_bytes struct bytes buf = {0};
	struct error err;
	uint32_t type;

	start();
	if (frame_recv(3, &type, &buf, &err) != 1 || type != FRAME_SIGNAL ||
		bytes_load_u32(buf.data) != SIGTERM)
		_exit(82);
	send_words(FRAME_EXIT, 3, 1u, (unsigned)SIGTERM, 0u);
}

/* ---- the host's side ---- */

struct outcome {
	struct one_result r;
	struct decisions decisions;
	struct error err;
	int status;
	int out; /* what came on standard output */
};

static void outcome_finish(struct outcome *o)
{
	one_result_finish(&o->r);
	decisions_finish(&o->decisions);
	fd_close(&o->out);
}

static void run_with(struct outcome *o, void (*supervisor)(void), struct stdin_source *in,
	uint64_t timeout_ns, int signals)
{
	static char word[] = "true", *argv[] = {word, NULL}, *env[] = {NULL};
	struct contract c;
	struct stdin_source none = {.kind = CONTRACT_STDIN_EMPTY, .file = -1, .spool = -1};
	autoclose int saved = dup(1);

	*o = (struct outcome){.out = -1};
	said[0] = '\0';
	fake_supervisor = supervisor;
	contract_init(&c);
	c.argv = argv;
	c.env = env;
	c.workdir = (char[]){"/"};
	c.workflow_id = (char[]){"w"};
	free(c.network);
	c.network = (char[]){"none"};
	decisions_init(&o->decisions);
	assert_int_equal(temp_open(&o->out, &o->err), 0);
	/* Our own standard output is the test's protocol. */
	fflush(stdout);
	assert_true(dup2(o->out, 1) == 1);
	struct one_spec spec = {.contract = &c,
		.supervisor = -1,
		.cpu = -1,
		.in = in ? in : &none,
		.timeout_ns = timeout_ns,
		.wants_limits = true,
		.signals = signals,
		.spool_out = -1,
		.spool_err = -1,
		.decisions = &o->decisions,
		.say = remember};
	o->status = one_run(&spec, &o->r, &o->err);
	assert_true(dup2(saved, 1) == 1);
}

static void the_guest_s_exit_and_output_come_out(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;
	char text[16] = "";

	(void)state;
	run_with(&o, exits_with_7, NULL, 0, -1);
	assert_int_equal(o.status, 0);
	assert_int_equal(o.r.end, ONE_GUEST);
	assert_int_equal(o.r.code, 7);
	assert_int_equal(o.r.signal, 0);
	assert_int_equal(pread(o.out, text, sizeof(text) - 1, 0), 4);
	assert_string_equal(text, "out\n");
	assert_int_equal(o.r.out_bytes, 4);
	assert_int_equal(o.r.err_bytes, 4);
	assert_int_equal(o.r.programs.count, 1);
	assert_string_equal(o.r.programs.items[0].path, "/usr/bin/true");
	assert_string_equal(said, "degraded: memory: a fake has no limits\n");
}

static void a_kill_by_the_memory_limit_is_told(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, is_killed, NULL, 0, -1);
	assert_int_equal(o.r.end, ONE_GUEST);
	assert_int_equal(o.r.signal, 9);
	assert_true(o.r.oom);
}

static void a_dead_supervisor_is_125(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, dies, NULL, 0, -1);
	assert_int_equal(o.status, 0);
	assert_int_equal(o.r.end, ONE_DIED);
	assert_int_equal(error_status(&o.r.failed), 125);
	assert_non_null(strstr(o.r.failed.msg, "signal 9"));
}

static void a_deadlock_is_told_with_its_reason(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, deadlocks, NULL, 0, -1);
	assert_int_equal(o.r.end, ONE_DEADLOCK);
	assert_non_null(strstr(said, "deadlock: task 1 waits for a pipe\n"));
	assert_int_equal(o.r.waiters.count, 1);
	assert_int_equal(o.r.waiters.items[0].tid, 65);
	assert_null(strchr(o.r.waiters.items[0].name, 0x1b));
	assert_string_equal(o.r.waiters.items[0].arguments, "3, 0x10, 1");
	assert_string_equal(o.r.waiters.items[0].what, "descriptor 3, a pipe");
}

static void holes_are_said_once_and_counted(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, touches_holes, NULL, 0, -1);
	assert_false(notes_is_enforced(&o.r.notes));
	assert_int_equal(o.r.notes.not_enforced[REASON_EXTERNAL_INPUT].count, 2);
	assert_non_null(strstr(said, "determinism not enforced: it read \\x1b[31msomething\n"));
	assert_null(strstr(said, "it read something"));
	assert_int_equal(o.r.notes.assumption_count, 2); /* no_pmu and the fake's limit */
}

static void a_failure_has_its_own_status(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, is_not_found, NULL, 0, -1);
	assert_int_equal(o.r.end, ONE_FAILED);
	assert_int_equal(error_status(&o.r.failed), 127);
}

static void frames_that_are_none_end_the_run(void **state)
{
	void (*rows[])(void) = {sends_nonsense, sends_a_short_exit, sends_too_much};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct outcome CLEANUP(outcome_finish) o;

		run_with(&o, rows[i], NULL, 0, -1);
		assert_int_equal(o.status, -1);
		assert_int_equal(o.err.code, ERR_FORMAT);
	}
}

static void much_output_arrives_whole(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;

	(void)state;
	run_with(&o, writes_much, NULL, 0, -1);
	assert_int_equal(o.r.end, ONE_GUEST);
	assert_int_equal(lseek(o.out, 0, SEEK_END), 64 * 65536);
}

static void a_time_out_kills(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;
	uint64_t before = clock_host_ns();

	(void)state;
	run_with(&o, waits, NULL, 100000000, -1);
	assert_int_equal(o.r.end, ONE_TIMEOUT);
	assert_true(clock_host_ns() - before < 5000000000ull);
}

static void a_stream_on_standard_input_arrives_and_ends(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;
	struct stdin_source in = {
		.kind = CONTRACT_STDIN_STREAM, .file = -1, .spool = -1, .is_second = true};
	struct error err = {0};
	char text[32] = "";

	(void)state;
	assert_int_equal(temp_open(&in.file, &err), 0);
	assert_int_equal(fd_write_all(in.file, "hello\nworld\n", 12, &err), 0);
	assert_int_equal(lseek(in.file, 0, SEEK_SET), 0);
	run_with(&o, copies_input, &in, 0, -1);
	stdin_close(&in);
	assert_int_equal(o.r.end, ONE_GUEST);
	assert_int_equal(o.r.code, 0);
	assert_int_equal(pread(o.out, text, sizeof(text) - 1, 0), 12);
	assert_string_equal(text, "hello\nworld\n");
	/* Nobody records it: once for the bytes, once for the end. */
	assert_int_equal(o.r.notes.not_enforced[REASON_EXTERNAL_INPUT].count, 2);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Signals this process after a moment, as often as asked. */
static void signal_later(int times)
{
	pid_t parent = getpid();

	if (fork() > 0)
		return;
	for (int i = 0; i < times; i++) {
		usleep(150000);
		kill(parent, SIGTERM);
	}
	_exit(0);
}

static void the_first_interrupt_goes_to_the_guest(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;
	autoclose int signals = open_signals();

	(void)state;
	signal_later(1);
	run_with(&o, ends_on_signal, NULL, 5000000000ull, signals);
	assert_int_equal(o.r.end, ONE_GUEST);
	assert_int_equal(o.r.signal, SIGTERM);
	assert_true(o.r.was_interrupted);
}

static void the_second_interrupt_kills(void **state)
{
	struct outcome CLEANUP(outcome_finish) o;
	autoclose int signals = open_signals();

	(void)state;
	signal_later(2);
	run_with(&o, waits, NULL, 5000000000ull, signals);
	assert_int_equal(o.r.end, ONE_STOPPED);
	assert_int_equal(o.r.signal, SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guest_s_exit_and_output_come_out),
		cmocka_unit_test(a_kill_by_the_memory_limit_is_told),
		cmocka_unit_test(a_dead_supervisor_is_125),
		cmocka_unit_test(a_deadlock_is_told_with_its_reason),
		cmocka_unit_test(holes_are_said_once_and_counted),
		cmocka_unit_test(a_failure_has_its_own_status),
		cmocka_unit_test(frames_that_are_none_end_the_run),
		cmocka_unit_test(much_output_arrives_whole),
		cmocka_unit_test(a_time_out_kills),
		cmocka_unit_test(a_stream_on_standard_input_arrives_and_ends),
		cmocka_unit_test(the_first_interrupt_goes_to_the_guest),
		cmocka_unit_test(the_second_interrupt_kills),
	};

	/* The fake supervisor is nudged by SIGUSR1; it looks when it is read from. */
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	return cmocka_run_group_tests_name("one", tests, NULL, NULL);
}
