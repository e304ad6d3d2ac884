/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into a directory that a guest has filled: see beneath.h. */
#include "base/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

int beneath_open(int dir, const char *path, int flags, unsigned mode)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

int beneath_open_file(int dir, const char *path, struct stat *ret_st)
{
	autoclose int fd = -1;

	/* Looked at first, so that no device or fifo is ever opened. */
	if (fstatat(dir, path, ret_st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISREG(ret_st->st_mode)) {
		errno = ENXIO;
		return -1;
	}
	fd = beneath_open(dir, path, O_RDONLY, 0);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return -1;
	if (!S_ISREG(ret_st->st_mode)) {
		errno = ENXIO;
		return -1;
	}
	return take_fd(fd);
}

void beneath_names_finish(struct beneath_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct beneath_names){0};
}

static int compare_names(const void *a, const void *b)
{
	const char *x, *y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return strcmp(x, y);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

int beneath_list(int dir, size_t max, struct beneath_names *ret, struct error *err)
{
	auto_names struct beneath_names names = {0};
	autoclose int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *CLEANUP(close_dir) stream = fd < 0 ? NULL : fdopendir(fd);
	size_t room = 0;

	if (!stream)
		return error_sys(err, "list a directory");
	(void)take_fd(fd);
	for (;;) {
		struct dirent *e;

		errno = 0;
		e = readdir(stream);
		if (!e && errno)
			return error_sys(err, "list a directory");
		if (!e)
			break;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (names.count == max)
			return error_set(err, ERR_LIMIT, "more than %zu names", max);
		if (names.count == room) {
			room = room * 2 + 32;
			names.items = mem_grow(names.items, room, sizeof(*names.items));
		}
		names.items[names.count++] = mem_strdup(e->d_name);
	}
	if (names.count > 0)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	*ret = names;
	names = (struct beneath_names){0};
	return 0;
}
