/* SPDX-License-Identifier: Apache-2.0 */
/* A program that the sandbox does not show: see missing.h. */
#include "run/missing.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "config/paths.h"
#include "run/programs.h"

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The host's file that the command's name means to the caller (caller frees), or NULL. */
static char *find_on_host(const struct contract *c)
{
	const char *name = c->argv[0], *path = getenv("PATH");

	if (strchr(name, '/')) {
		char *whole = path_join(c->workdir, name);

		if (is_program(whole))
			return whole;
		free(whole);
		return NULL;
	}
	for (const char *p = path ? path : ""; *p;) {
		size_t len = strcspn(p, ":");
		autofree char *dir = mem_strndup(p, len),
			      *whole = path_join(dir[0] ? dir : "/", name);

		if (dir[0] == '/' && is_program(whole))
			return take_ptr(whole);
		p += len + (p[len] == ':');
	}
	return NULL;
}

/* The directory to show for a program: what holds its bin, unless that would be a home or all. */
static char *dir_to_show(const char *program)
{
	autofree char *dir = path_dirname(program), *above = path_dirname(dir),
		      *home = paths_home();
	const char *name = path_basename(dir);

	if ((strcmp(name, "bin") == 0 || strcmp(name, "sbin") == 0) && strcmp(above, "/") != 0 &&
		(!home || !path_is_in(home, above)))
		return take_ptr(above);
	return take_ptr(dir);
}

static bool is_in_view(const struct contract *c, const char *path)
{
	autofree char *host = programs_host_path(c, path);

	return host && access(host, F_OK) == 0;
}

char *missing_advice(const struct contract *c)
{
	autofree char *found = find_on_host(c), *real = found ? realpath(found, NULL) : NULL;
	autofree char *dir = NULL, *interpreter = NULL, *safe = NULL, *safe_dir = NULL;
	const char *what = real;

	if (!real)
		return NULL;
	if (is_in_view(c, found) && is_in_view(c, real)) {
		autoclose int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

		interpreter = fd < 0 ? NULL : programs_interpreter(fd);
		if (!interpreter || is_in_view(c, interpreter) || !is_program(interpreter))
			return NULL;
		what = interpreter;
	}
	dir = dir_to_show(what);
	safe = str_printable(what, strlen(what), 300);
	safe_dir = str_printable(dir, strlen(dir), 300);
	if (interpreter)
		return str_format("its interpreter '%s' is outside the sandbox's view: show it "
				  "with --bind-ro %s",
			safe, safe_dir);
	return str_format("the host has it as '%s', outside the sandbox's view: show it with "
			  "--bind-ro %s%s%s",
		safe, safe_dir, strchr(c->argv[0], '/') ? "" : " and run it as ",
		strchr(c->argv[0], '/') ? "" : safe);
}
