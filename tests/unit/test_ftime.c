/* SPDX-License-Identifier: Apache-2.0 */
/* File times on the logical clock, tried on real files under a clock that the test moves. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervise/engine/clock.h"
#include "supervise/files/ftime.h"
#include "supervise/main.h"
#include "supervise/io/writers.h"

#define S 1000000000ll

static const int64_t epoch = 1700000000 * S;
static const int64_t setup = 1800000000 * S;
static char dir[] = "/tmp/ftime-XXXXXX";

const struct contract *contract_get(void)
{
	static struct contract contract;

	return &contract;
}

static struct statx look(int fd)
{
	struct statx stx;

	assert_int_equal(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &stx), 0);
	return stx;
}

static int make(const char *name)
{
	int fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_TRUNC, 0600);
	struct statx stx = look(fd);

	ftime_changed(fd, &stx, NULL, FTIME_CREATED);
	return fd;
}

static struct ftimes shown(int fd)
{
	struct statx stx = look(fd);
	struct ftimes times;

	ftime_show(&stx, false, &times);
	return times;
}

static int64_t now(void)
{
	return (int64_t)clock_realtime();
}

static int64_t input(int64_t real_ns)
{
	struct statx stx;
	struct ftimes times;

	memset(&stx, 0, sizeof(stx));
	stx.stx_mask = STATX_BASIC_STATS | STATX_BTIME;
	stx.stx_mode = S_IFREG;
	stx.stx_ino = 99;
	stx.stx_mtime.tv_sec = real_ns / S;
	stx.stx_mtime.tv_nsec = (uint32_t)(real_ns % S);
	ftime_show(&stx, false, &times);
	assert_true(times.ctime_ns == times.mtime_ns && times.atime_ns == times.mtime_ns);
	return times.mtime_ns;
}

static void old_inputs_keep_their_time(void **state)
{
	(void)state;
	assert_true(input(5 * S + 7) == 5 * S + 7);
	assert_true(input(epoch - S - 1) == epoch - S - 1);
	/* 1684: further before the epoch than nanoseconds count. */
	assert_true(input(-9000000000 * S) == -9000000000 * S);
}

static void young_inputs_come_before_the_epoch_in_order(void **state)
{
	const int64_t real[] = {epoch - S, epoch, epoch + S / 2, epoch + 86400 * S,
		epoch + 86400 * S + S / 2, setup - S};

	(void)state;
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		assert_true(input(real[i]) >= epoch - S && input(real[i]) < epoch);
		assert_true(i == 0 || input(real[i]) > input(real[i - 1]));
	}
}

static void what_set_up_made_shows_one_second_before(void **state)
{
	(void)state;
	assert_true(input(setup) == epoch - S);
	assert_true(input(setup + 123456789) == epoch - S);
}

static void a_write_is_dated_by_the_logical_instant(void **state)
{
	int fd = make("written");
	int64_t first = now();

	(void)state;
	assert_true(shown(fd).mtime_ns == first && shown(fd).btime_ns == first);
	clock_advance(clock_monotonic() + 5 * S);
	assert_true(shown(fd).mtime_ns == first);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_true(shown(fd).mtime_ns == first + 5 * S);
	clock_advance(clock_monotonic() + 5 * S);
	assert_true(shown(fd).mtime_ns == first + 5 * S);
	assert_true(shown(fd).ctime_ns == first + 5 * S && shown(fd).btime_ns == first);
	close(fd);
}

static void settling_puts_the_time_on_the_file(void **state)
{
	int fd = make("settled");
	int64_t first = now();
	struct statx stx;

	(void)state;
	clock_advance(clock_monotonic() + S);
	stx = look(fd);
	assert_true(stx.stx_mtime.tv_sec * S + stx.stx_mtime.tv_nsec == first);
	close(fd);
}

static void times_that_the_guest_sets_are_kept(void **state)
{
	int fd = make("set");
	const struct timespec ts[2] = {{11, 0}, {12, 34}};
	const int64_t atime = 11 * S, mtime = 12 * S + 34;
	struct statx before = look(fd), after;

	(void)state;
	clock_advance(clock_monotonic() + S);
	assert_int_equal(futimens(fd, ts), 0);
	after = look(fd);
	ftime_set(fd, &after, &before, &atime, &mtime);
	assert_true(shown(fd).mtime_ns == mtime && shown(fd).atime_ns == atime);
	assert_true(shown(fd).ctime_ns == now());
	clock_advance(clock_monotonic() + S);
	assert_true(shown(fd).mtime_ns == mtime);
	close(fd);
}

static void writers_are_seen(void **state)
{
	int fd = open("held", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	int path = open("held", O_PATH | O_CLOEXEC);

	(void)state;
	assert_int_not_equal(writers_of(path), 0);
	close(fd);
	assert_int_not_equal(writers_of(path), 1);
	close(path);
}

static int enter(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL || chdir(dir) != 0)
		return -1;
	clock_init((uint64_t)epoch, 1000 * S, 0);
	ftime_init((uint64_t)epoch, setup);
	return 0;
}

static int leave(void **state)
{
	static const char *const names[] = {"written", "settled", "set", "held"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(names[i]);
	return chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_inputs_keep_their_time),
		cmocka_unit_test(young_inputs_come_before_the_epoch_in_order),
		cmocka_unit_test(what_set_up_made_shows_one_second_before),
		cmocka_unit_test(a_write_is_dated_by_the_logical_instant),
		cmocka_unit_test(settling_puts_the_time_on_the_file),
		cmocka_unit_test(times_that_the_guest_sets_are_kept),
		cmocka_unit_test(writers_are_seen),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
