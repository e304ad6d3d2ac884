/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are resolved as another process - here a child of the test - would resolve them. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/main.h"
#include "supervise/files/path.h"

static char dir[] = "/tmp/path-XXXXXX";
static struct process process = {.ordinal = 1, .pidfd = -1};
static struct task task = {.proc = &process};

const struct contract *contract_get(void)
{
	static struct contract contract;

	return &contract;
}

static enum path_answer find(const char *text, unsigned flags, char name[PATH_MAX])
{
	auto_path struct path p = PATH_NONE;
	enum path_answer answer = path_find_text(&task, AT_FDCWD, text, flags, &p);

	name[0] = '\0';
	if (answer == PATH_FOUND)
		assert_true(path_name(p.fd, name));
	else
		(void)snprintf(name, PATH_MAX, "%s", strerror(p.error));
	return answer;
}

static void assert_found(const char *text, unsigned flags, const char *expected)
{
	char name[PATH_MAX];

	assert_int_equal(find(text, flags, name), PATH_FOUND);
	assert_string_equal(name, expected);
}

static void assert_under(const char *text, const char *rest)
{
	char expected[PATH_MAX];

	(void)snprintf(expected, sizeof(expected), "/proc/%d%s", process.pid, rest);
	assert_found(text, 0, expected);
}

static void relative_paths_start_where_the_task_stands(void **state)
{
	char expected[64];

	(void)state;
	(void)snprintf(expected, sizeof(expected), "%s/file", dir);
	assert_found("file", 0, expected);
	assert_found("./sub/../file", 0, expected);
	assert_found("link", 0, expected);
	(void)snprintf(expected, sizeof(expected), "%s/link", dir);
	assert_found("link", PATH_NOFOLLOW, expected);
}

static void proc_self_is_the_tasks_own(void **state)
{
	char rest[64];

	(void)state;
	assert_under("/proc/self/stat", "/stat");
	(void)snprintf(rest, sizeof(rest), "/task/%d/stat", task.tid);
	assert_under("/proc/thread-self/stat", rest);
}

static void links_into_proc_lead_to_the_tasks_own(void **state)
{
	(void)state;
	assert_under("to-self/stat", "/stat");
	assert_under("/proc/self/../self/stat", "/stat");
	assert_under("/proc/self/task/../stat", "/stat");
}

static void magic_links_lead_where_they_lead(void **state)
{
	char expected[64];

	(void)state;
	(void)snprintf(expected, sizeof(expected), "%s/file", dir);
	assert_found("/proc/self/cwd/file", 0, expected);
	assert_found("/proc/self/root/dev/null", 0, "/dev/null");
}

static void what_is_missing_is_sure_outside_proc_alone(void **state)
{
	char name[PATH_MAX];

	(void)state;
	assert_int_equal(find("nothing", 0, name), PATH_ERROR);
	assert_int_equal(find("nothing/below", 0, name), PATH_ERROR);
	assert_int_equal(find("file/below", 0, name), PATH_ERROR);
	assert_int_equal(find("sub-link/nothing", 0, name), PATH_ERROR);
	assert_int_equal(find("a-name-with-proc-in-it", 0, name), PATH_ERROR);
	assert_int_equal(find("/proc/self/nothing", 0, name), PATH_ODD);
	assert_int_equal(find("to-self/nothing", 0, name), PATH_ODD);
	assert_string_equal(name, strerror(ENOENT));
	assert_int_equal(find("loop", 0, name), PATH_ODD);
	assert_string_equal(name, strerror(ELOOP));
	assert_int_equal(find("", 0, name), PATH_ERROR);
}

static void a_change_of_directory_is_noticed_when_told(void **state)
{
	struct path p = PATH_NONE;

	(void)state;
	assert_true(path_look(&task, AT_FDCWD, "file", &p));
	path_cwd_changed(&task);
	assert_true(path_look(&task, AT_FDCWD, "file", &p));
	assert_false(path_look(&task, AT_FDCWD, "link", &p));
	assert_false(path_look(&task, AT_FDCWD, "sub/../file", &p));
	assert_int_equal(p.fd, -1);
}

static int enter(void **state)
{
	int ready[2];
	char byte;

	(void)state;
	if (mkdtemp(dir) == NULL || chdir(dir) != 0 || mkdir("sub", 0755) != 0 ||
		close(creat("file", 0644)) != 0 || symlink("file", "link") != 0 ||
		symlink("/proc/self", "to-self") != 0 || symlink("sub", "sub-link") != 0 ||
		symlink("loop", "loop") != 0 || pipe(ready) != 0)
		return -1;
	process.pid = task.tid = fork();
	if (task.tid == 0) {
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	/* The task stands there; we do not. */
	if (read(ready[0], &byte, 1) != 1 || chdir("/") != 0)
		return -1;
	path_init();
	return 0;
}

static int leave(void **state)
{
	static const char *const names[] = {"file", "link", "to-self", "sub-link", "loop"};

	(void)state;
	kill(task.tid, SIGKILL);
	if (waitpid(task.tid, NULL, 0) != task.tid || chdir(dir) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(names[i]);
	return rmdir("sub") == 0 && chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relative_paths_start_where_the_task_stands),
		cmocka_unit_test(proc_self_is_the_tasks_own),
		cmocka_unit_test(links_into_proc_lead_to_the_tasks_own),
		cmocka_unit_test(magic_links_lead_where_they_lead),
		cmocka_unit_test(what_is_missing_is_sure_outside_proc_alone),
		cmocka_unit_test(a_change_of_directory_is_noticed_when_told),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
