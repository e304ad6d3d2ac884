/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the files of /proc: made by us, passed, or told as live. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "supervise/engine/clock.h"
#include "supervise/main.h"
#include "supervise/proc/procfs.h"
#include "supervise/proc/make.h"

static struct contract contract = {.memory_bytes = 64 << 20, .hostname = "box"};

const struct contract *contract_get(void)
{
	return &contract;
}

static void assert_content(const char *path, const char *text)
{
	auto_bytes struct bytes content = {0};

	assert_int_equal(procfs_check(path), PROCFS_SERVE);
	assert_int_equal(procfs_make(NULL, path, &content), 0);
	bytes_put_u8(&content, 0);
	assert_string_equal((const char *)content.data, text);
}

static void the_system_is_the_contracts(void **state)
{
	(void)state;
	assert_content("/proc/uptime", "1000.50 1000.50\n");
	assert_content("/proc/sys/kernel/hostname", "box\n");
	assert_content("/proc/sys/kernel/osrelease", "6.1.0-sandglass\n");
	assert_content("/proc/64/cgroup", "0::/\n");
	assert_content("/proc/64/task/65/schedstat", "0 0 0\n");
}

static void memory_is_the_contracts(void **state)
{
	auto_bytes struct bytes content = {0};

	(void)state;
	assert_int_equal(procfs_make(NULL, "/proc/meminfo", &content), 0);
	bytes_put_u8(&content, 0);
	assert_non_null(strstr((const char *)content.data, "MemTotal:          65536 kB\n"));
	assert_non_null(strstr((const char *)content.data, "MemFree:           32768 kB\n"));
}

static void what_is_the_same_always_passes(void **state)
{
	(void)state;
	assert_int_equal(procfs_check("/proc/64/cmdline"), PROCFS_PASS);
	assert_int_equal(procfs_check("/proc/64/task/64/comm"), PROCFS_PASS);
	assert_int_equal(procfs_check("/proc/64/fd/3"), PROCFS_PASS);
}

static void the_rest_is_not_there(void **state)
{
	(void)state;
	assert_true(procfs_is_absent("/proc/64/net/stat/rt_cache"));
	assert_true(procfs_is_absent("/proc/64/net/stat"));
	assert_true(procfs_is_absent("/proc/newfile"));
	assert_true(procfs_is_absent("/proc/64/newfile"));
	assert_true(procfs_is_absent("/proc/64/task/65/attr"));
	assert_true(procfs_is_absent("/proc/sys/kernel/new"));
	assert_true(procfs_is_absent("/proc/64x/stat"));
	assert_false(procfs_is_absent("/proc"));
	assert_false(procfs_is_absent("/proc/self"));
	assert_false(procfs_is_absent("/proc/64"));
	assert_false(procfs_is_absent("/proc/64/task/65"));
	assert_false(procfs_is_absent("/proc/64/task"));
	assert_false(procfs_is_absent("/proc/64/fd/3"));
	assert_false(procfs_is_absent("/proc/64/net"));
	assert_false(procfs_is_absent("/proc/sys/kernel"));
	assert_false(procfs_is_absent("/process"));
}

static void files_of_sys_that_have_no_row_are_live(void **state)
{
	(void)state;
	assert_int_equal(procfs_check("/sys/class/net/lo/ifindex"), PROCFS_LIVE);
	assert_false(procfs_is_absent("/sys/class/net/lo/ifindex"));
}

static void some_are_refused(void **state)
{
	(void)state;
	assert_int_equal(procfs_check("/proc/64/pagemap"), PROCFS_REFUSED);
	assert_int_equal(procfs_refusal("/proc/64/pagemap"), EPERM);
}

static void what_the_guest_may_not_open_is_left_to_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(procfs_check("/proc/1/maps"), PROCFS_PASS);
	assert_int_equal(procfs_check("/proc/1/stat"), PROCFS_SERVE);
}

static void a_long_line_is_whole(void **state)
{
	auto_bytes struct bytes content = {0};
	char path[4000];

	(void)state;
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	procfs_printf(&content, "%s\n", path);
	assert_int_equal(content.len, sizeof(path));
	assert_int_equal(content.data[content.len - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_system_is_the_contracts),
		cmocka_unit_test(memory_is_the_contracts),
		cmocka_unit_test(what_is_the_same_always_passes),
		cmocka_unit_test(the_rest_is_not_there),
		cmocka_unit_test(files_of_sys_that_have_no_row_are_live),
		cmocka_unit_test(some_are_refused),
		cmocka_unit_test(a_long_line_is_whole),
		cmocka_unit_test(what_the_guest_may_not_open_is_left_to_the_kernel),
	};

	clock_init(1700000000000000000u, 1000500000000u, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
