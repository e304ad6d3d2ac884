/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own: see scratch.h. */
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"

int scratch_setup(void **state)
{
	struct scratch *s = mem_alloc(sizeof(*s));

	snprintf(s->dir, sizeof(s->dir), "/tmp/sandglass-unit-XXXXXX");
	if (!mkdtemp(s->dir) || chmod(s->dir, 0755) < 0)
		return -1;
	*state = s;
	return 0;
}

int scratch_teardown(void **state)
{
	struct scratch *s = *state;
	struct error err;
	int r = remove_tree(AT_FDCWD, s->dir, &err);

	free(s);
	return r == 1 ? 0 : -1;
}

int scratch_shell(const struct scratch *s, const char *text)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		umask(022);
		/* Standard output is the test's TAP. */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || chdir(s->dir) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-ec", text, NULL);
		_exit(98);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *scratch_path(const struct scratch *s, const char *name)
{
	return str_format("%s/%s", s->dir, name);
}

int scratch_dir(const struct scratch *s, const char *name)
{
	autofree char *path = scratch_path(s, name);

	mkdir(path, 0755);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
