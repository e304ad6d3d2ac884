/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of our own: see dir.h. */
#include "base/dir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

int dir_make(const char *path, struct error *err)
{
	autofree char *part = mem_strdup(path);

	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		/* A file system that is read-only may have it all the same. */
		if (mkdir(part, 0700) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
			return error_sys(err, "make '%.300s'", part);
		if (!slash)
			return 0;
		*slash = '/';
	}
}
