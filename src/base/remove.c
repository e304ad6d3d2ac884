/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what somebody else has filled: see remove.h.
 *
 * How it works. Depth first with a descriptor a level. A tree may be deeper than a process may have
 * descriptors, so that what lies too deep is first moved up to the top and removed from there.
 */
#include "base/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"

enum { LEVELS_MAX = 64 };

struct removal {
	int top;
	unsigned moved;	  /* number of the last that was moved up */
	bool is_moved;	  /* something was, in this round */
	int sys;	  /* errno of the first that could not be removed */
	char failed[256]; /* its name */
};

static void note(struct removal *r, const char *name)
{
	if (!r->sys) {
		r->sys = errno;
		snprintf(r->failed, sizeof(r->failed), "%s", name);
	}
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int open_directory(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* Its owner may have shut himself out. */
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static bool move_up(struct removal *r, int dir, const char *name)
{
	char to[32];

	/* A directory changes its ".." as it moves, which takes the right to write in it. */
	(void)!fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW);
	do
		snprintf(to, sizeof(to), ".sandglass-rm-%u", ++r->moved);
	while (renameat2(dir, name, r->top, to, RENAME_NOREPLACE) < 0 && errno == EEXIST);
	return faccessat(r->top, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void empty(struct removal *r, int dir, unsigned level);

static void remove_entry(struct removal *r, int dir, const char *name, unsigned level)
{
	autoclose int below = -1;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return;
	if (errno != EISDIR && errno != EPERM) {
		note(r, name);
		return;
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	if (errno == EBUSY) {
		note(r, name); /* a mount, whose contents are not ours */
		return;
	}
	if (level >= LEVELS_MAX && dir != r->top && move_up(r, dir, name)) {
		r->is_moved = true;
		return;
	}
	below = open_directory(dir, name);
	if (below < 0) {
		note(r, name);
		return;
	}
	empty(r, below, level + 1);
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		note(r, name);
}

static void empty(struct removal *r, int dir, unsigned level)
{
	DIR *CLEANUP(close_dir) stream = NULL;
	struct stat st;
	int copy;

	/* Its owner may have left it readable alone: neither "." is found then nor can it change.
	 */
	if (fstat(dir, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)!fchmod(dir, 0700);
	copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = copy < 0 ? NULL : fdopendir(copy);
	if (!stream) {
		note(r, ".");
		return;
	}
	for (;;) {
		struct dirent *e = readdir(stream);

		if (!e)
			break;
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_entry(r, dir, e->d_name, level);
	}
}

static int told(const struct removal *r, struct error *err)
{
	errno = r->sys;
	return r->sys ? error_sys(err, "remove '%s'", r->failed) : 0;
}

int remove_contents(int dir, struct error *err)
{
	struct removal r = {.top = dir};

	do {
		r.is_moved = false;
		r.sys = 0;
		empty(&r, dir, 0);
	} while (r.is_moved);
	return told(&r, err);
}

int remove_tree(int dir, const char *name, struct error *err)
{
	autoclose int below = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "look at '%s'", name);
	if (S_ISDIR(st.st_mode)) {
		below = open_directory(dir, name);
		if (below < 0)
			return error_sys(err, "open '%s'", name);
		if (remove_contents(below, err) < 0)
			return -1;
	}
	if (unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0)
		return error_sys(err, "remove '%s'", name);
	return 1;
}
