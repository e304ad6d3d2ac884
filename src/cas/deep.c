/* SPDX-License-Identifier: Apache-2.0 */
/* Directories below another one by paths of any length: see deep.h. */
#include "cas/deep.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { STEP_MAX = 4000 }; /* a path has at most 4095 bytes for the kernel */

static int open_step(int dir, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int deep_open(int dir, const char *path)
{
	autoclose int fd = -1;

	while (strlen(path) > STEP_MAX) {
		size_t len = STEP_MAX;
		autofree char *part = NULL;
		int next;

		while (path[len] != '/')
			len--;
		part = mem_strndup(path, len);
		next = open_step(fd < 0 ? dir : fd, part);
		fd_close(&fd);
		if (next < 0)
			return -1;
		fd = next;
		path += len + 1;
	}
	return open_step(fd < 0 ? dir : fd, path);
}
