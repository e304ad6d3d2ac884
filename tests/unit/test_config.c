/* SPDX-License-Identifier: Apache-2.0 */
/* Settings come from the first layer that has them; directories from the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/paths.h"
#include "config/settings.h"

static char home[] = "/tmp/sandglass-config-XXXXXX";

static int setup(void **state)
{
	(void)state;
	memcpy(home + strlen(home) - 6, "XXXXXX", 6);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("SANDGLASS_HOME");
	unsetenv("SANDGLASS_SUPERVISE");
	return mkdtemp(home) && setenv("HOME", home, 1) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {
		".config/sandglass/config.json", ".config/sandglass", ".config"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *path = str_format("%s/%s", home, names[i]);

		remove(path);
	}
	return rmdir(home);
}

static void write_config(const char *text)
{
	autofree char *a = str_format("%s/.config", home),
		      *b = str_format("%s/.config/sandglass", home);
	autofree char *file = str_format("%s/.config/sandglass/config.json", home);
	struct error err = {0};

	mkdir(a, 0755);
	mkdir(b, 0755);
	autoclose int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(fd_write_all(fd, text, strlen(text), &err), 0);
}

static void directories_follow_the_environment(void **state)
{
	autofree char *plain = NULL, *xdg = NULL, *ignored = NULL, *own = NULL, *none = NULL;
	autofree char *expected = str_format("%s/.local/state/sandglass", home);
	struct error err = {0};

	(void)state;
	assert_int_equal(paths_find(PATHS_STATE, &plain, &err), 0);
	assert_string_equal(plain, expected);
	setenv("XDG_CONFIG_HOME", "/x/", 1);
	assert_int_equal(paths_find(PATHS_CONFIG, &xdg, &err), 0);
	assert_string_equal(xdg, "/x/sandglass");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	assert_int_equal(paths_find(PATHS_CONFIG, &ignored, &err), 0);
	assert_null(strstr(ignored, "relative"));
	setenv("SANDGLASS_HOME", "/all", 1);
	assert_int_equal(paths_find(PATHS_CACHE, &own, &err), 0);
	assert_string_equal(own, "/all/cache");
	setenv("SANDGLASS_HOME", "relative", 1);
	assert_int_equal(paths_find(PATHS_CACHE, &none, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
}

static void the_environment_comes_before_the_file(void **state)
{
	autofree char *from_file = NULL, *from_environment = NULL, *nothing = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(settings_find("supervise", &nothing, &err), 0);
	write_config("{\"supervise\": \"/from/file\"}");
	assert_int_equal(settings_find("supervise", &from_file, &err), 1);
	assert_string_equal(from_file, "/from/file");
	setenv("SANDGLASS_SUPERVISE", "/from/environment", 1);
	assert_int_equal(settings_find("supervise", &from_environment, &err), 1);
	assert_string_equal(from_environment, "/from/environment");
}

static void a_file_that_is_none_of_ours_is_refused_by_name(void **state)
{
	static const char *const rows[] = {
		"[]", "{", "{\"supervize\": \"/x\"}", "{\"supervise\": 1}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *value = NULL;
		struct error err = {0};

		write_config(rows[i]);
		assert_int_equal(settings_find("supervise", &value, &err), -1);
		assert_int_equal(err.code, ERR_FORMAT);
		assert_non_null(strstr(err.msg, "config.json"));
	}
}

static void a_project_may_set_what_runs_nothing(void **state)
{
	autofree char *file = str_format("%s/.sandglass/config.json", home),
		      *dir = str_format("%s/.sandglass", home), *value = NULL, *other = NULL;
	enum settings_layer layer;
	struct error err = {0};
	static const char bad[] = "{\"supervise\": \"/tmp/evil\"}",
			  good[] = "{\"host_isolation_tier\": \" VM \"}";

	(void)state;
	assert_int_equal(chdir(home), 0);
	assert_int_equal(settings_find_layer("host_isolation_tier", &value, &layer, &err), 1);
	assert_string_equal(value, "none");
	assert_int_equal(layer, SETTINGS_DEFAULT);
	assert_int_equal(mkdir(dir, 0755), 0);
	for (int i = 0; i < 2; i++) {
		autoclose int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		assert_int_equal(fd_write_all(fd, i ? good : bad, strlen(i ? good : bad), &err), 0);
		/* It is not looked at for what it may not set, and refused where it is. */
		assert_int_equal(settings_find("supervise", &other, &err), 0);
		mem_cleanup(&value);
		assert_int_equal(settings_find_layer("host_isolation_tier", &value, &layer, &err),
			i ? 1 : -1);
	}
	assert_string_equal(value, "vm");
	assert_int_equal(layer, SETTINGS_PROJECT);
	/* Somebody else's is none. */
	if (geteuid() == 0) {
		assert_int_equal(chown(file, 12345, 12345), 0);
		mem_cleanup(&value);
		assert_int_equal(
			settings_find_layer("host_isolation_tier", &value, &layer, &err), 1);
		assert_int_equal(layer, SETTINGS_DEFAULT);
	}
	mem_cleanup(&value);
	setenv("SANDGLASS_HOST_ISOLATION_TIER", "chroot", 1);
	assert_int_equal(settings_find("host_isolation_tier", &value, &err), -1);
	assert_non_null(strstr(err.msg, "SANDGLASS_HOST_ISOLATION_TIER"));
	assert_non_null(strstr(err.msg, "none, process, container or vm"));
	unsetenv("SANDGLASS_HOST_ISOLATION_TIER");
	remove(file);
	remove(dir);
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_project_may_set_what_runs_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			directories_follow_the_environment, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_environment_comes_before_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_none_of_ours_is_refused_by_name, setup, teardown),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
