/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the user named for a result: see place.h. */
#include "run/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

static int write_special(const char *path, place_fill *fill, const void *arg, struct error *err)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? error_sys(err, "open") : fill(fd, arg, err);
}

static int write_file(const char *path, place_fill *fill, const void *arg, struct error *err)
{
	autofree char *temporary = str_format("%s.%d.tmp", path, (int)getpid());
	autoclose int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return error_sys(err, "create");
	r = fill(fd, arg, err);
	if (r == 0 && rename(temporary, path) < 0)
		r = error_sys(err, "rename");
	if (r < 0)
		unlink(temporary);
	return r;
}

int place_write(const char *path, place_fill *fill, const void *arg, struct error *err)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;
	autofree char *real = exists ? realpath(path, NULL) : NULL;

	return exists && !S_ISREG(st.st_mode) ? write_special(path, fill, arg, err)
					      : write_file(real ? real : path, fill, arg, err);
}
