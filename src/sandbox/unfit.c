/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a tree would be the same as a lower layer of an overlay: see unfit.h. */
#include "sandbox/unfit.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	SMALL_ENTRIES = 256,
	SMALL_BYTES = 4 << 20,
	DEPTH_MAX = 200,
	LIST_MAX = 64 * 1024,
	NR_LISTXATTRAT = 465, /* on every architecture */
};
#define OVERLAY_PREFIX "user.overlay."

struct look {
	enum unfit_of what;
	uid_t uid; /* of everything */
	gid_t gid;
	bool is_unfit;
	uint64_t entries, bytes;
	char *names; /* LIST_MAX bytes for the names of attributes */
};

static void look_finish(struct look *l)
{
	mem_cleanup(&l->names);
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Ten thousand times: by the path through /proc, the way before Linux 6.13, it takes four times as
 * long. */
static ssize_t list_attributes(struct look *l, int dir, const char *name)
{
	char path[320];
	long len =
		syscall(NR_LISTXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, l->names, (size_t)LIST_MAX);

	if (len >= 0 || errno != ENOSYS)
		return (ssize_t)len;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	return llistxattr(path, l->names, LIST_MAX);
}

static bool has_overlay_attributes(struct look *l, int dir, const char *name)
{
	ssize_t len = list_attributes(l, dir, name);

	/* Without attributes, or with more than can be looked at: the second is not fit. */
	if (len < 0)
		return errno != ENOTSUP && errno != ENODATA;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(l->names + at) + 1)
		if (strncmp(l->names + at, OVERLAY_PREFIX, strlen(OVERLAY_PREFIX)) == 0)
			return true;
	return false;
}

static void look_at(struct look *l, int dir, const char *name, const struct stat *st)
{
	bool is_whiteout = S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);

	l->entries++;
	if (st->st_uid != l->uid || st->st_gid != l->gid)
		l->is_unfit = true;
	if (S_ISREG(st->st_mode)) {
		l->bytes += (uint64_t)st->st_size;
		if (st->st_nlink > 1)
			l->is_unfit = true;
	} else if (!S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode) &&
		   !(is_whiteout && l->what == UNFIT_IN_UPPER)) {
		l->is_unfit = true;
	}
	if (!l->is_unfit && l->what == UNFIT_PLAIN && !S_ISLNK(st->st_mode) &&
		has_overlay_attributes(l, dir, name))
		l->is_unfit = true;
}

/* Takes the descriptor. */
static int walk(struct look *l, int dir, unsigned depth, struct error *err)
{
	DIR *CLEANUP(close_dir) stream = fdopendir(dir);
	const struct dirent *e;

	if (!stream) {
		close(dir);
		return error_sys(err, "list a directory");
	}
	while (!l->is_unfit && (errno = 0, e = readdir(stream))) {
		struct stat st;
		int below;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_sys(err, "look at '%.200s'", e->d_name);
		look_at(l, dir, e->d_name, &st);
		if (!S_ISDIR(st.st_mode) || l->is_unfit)
			continue;
		below = depth == DEPTH_MAX
				? -1
				: openat(dir, e->d_name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Too deep, or shut even to its owner. */
		if (below < 0)
			l->is_unfit = true;
		else if (walk(l, below, depth + 1, err) < 0)
			return -1;
	}
	return !l->is_unfit && errno ? error_sys(err, "list a directory") : 0;
}

int unfit_find(int dir, enum unfit_of what, bool *ret_is_small, struct error *err)
{
	struct look CLEANUP(look_finish) l = {.what = what, .names = mem_alloc(LIST_MAX)};
	int top = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (top < 0)
		return error_sys(err, "open a directory");
	if (fstat(top, &st) < 0) {
		close(top);
		return error_sys(err, "look at a directory");
	}
	l.uid = st.st_uid;
	l.gid = st.st_gid;
	if (walk(&l, top, 0, err) < 0)
		return -1;
	*ret_is_small = l.entries <= SMALL_ENTRIES && l.bytes <= SMALL_BYTES;
	return l.is_unfit ? 1 : 0;
}
