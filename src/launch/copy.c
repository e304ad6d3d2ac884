/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded copy of a directory tree: see copy.h. */
#include "launch/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { DEPTH_MAX = 256, CHUNK = 16 * 1024 * 1024 };

struct copy {
	const struct idmap *ids;
	uid_t own_uid;
	gid_t own_gid;
	dev_t device;
};

/*
 * A tmpfs of the sandbox takes new files only from an id that exists inside. The file-system ids
 * are switched for the call that creates, so that reading stays the caller's right.
 */
static void as_guest(const struct copy *c)
{
	if (c->ids->privileged) {
		setfsgid(c->ids->gid);
		setfsuid(c->ids->uid);
	}
}

static void as_self(const struct copy *c)
{
	if (c->ids->privileged) {
		setfsuid(c->own_uid);
		setfsgid(c->own_gid);
	}
}

static int too_large(struct error *err, const char *name)
{
	if (errno == ENOSPC)
		return error_set(err, ERR_LIMIT,
			"the working directory is larger than its private copy may be (at '%s')",
			name);
	return error_sys(err, "copy '%s'", name);
}

static int copy_bytes(int from, int to, off_t size, const char *name, struct error *err)
{
	for (off_t done = 0; done < size;) {
		ssize_t n = sendfile(to, from, NULL, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return too_large(err, name);
		if (n == 0)
			break;
		done += n;
	}
	return 0;
}

static int copy_file(
	const struct copy *c, int from_dir, int to_dir, const char *name, struct error *err)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	autoclose int from = openat(from_dir, name, flags);
	autoclose int to = -1;
	struct stat st = {0};

	if (from < 0 && errno != EACCES && errno != EPERM)
		return errno == ENOENT ? 0 : error_sys(err, "copy '%s'", name);
	if (from >= 0 && fstat(from, &st) < 0)
		return error_sys(err, "copy '%s'", name);
	if (from >= 0 && !S_ISREG(st.st_mode))
		return 0; /* exchanged for something else meanwhile */
	as_guest(c);
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	as_self(c);
	if (to < 0)
		return too_large(err, name);
	if (from >= 0 && copy_bytes(from, to, st.st_size, name, err) < 0)
		return -1;
	if (fchmod(to, st.st_mode & 0777) < 0 ||
		futimens(to, (const struct timespec[]){st.st_mtim, st.st_mtim}) < 0)
		return error_sys(err, "copy '%s'", name);
	return 0;
}

static int copy_link(const struct copy *c, int from_dir, int to_dir, const char *name,
	const struct stat *st, struct error *err)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from_dir, name, target, sizeof(target) - 1);
	int result;

	if (len < 0)
		return error_sys(err, "copy '%s'", name);
	target[len] = '\0';
	as_guest(c);
	result = symlinkat(target, to_dir, name);
	as_self(c);
	if (result < 0)
		return too_large(err, name);
	if (utimensat(to_dir, name, (const struct timespec[]){st->st_mtim, st->st_mtim},
		    AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "copy '%s'", name);
	return 0;
}

static int copy_entries(const struct copy *c, int from, int to, int depth, struct error *err);

static int copy_dir(const struct copy *c, int from_dir, int to_dir, const char *name,
	const struct stat *st, int depth, struct error *err)
{
	autoclose int from =
		openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclose int to = -1;
	int result;

	if (from < 0 && errno != EACCES && errno != EPERM)
		return errno == ENOENT ? 0 : error_sys(err, "copy '%s'", name);
	as_guest(c);
	result = mkdirat(to_dir, name, 0700);
	as_self(c);
	if (result < 0)
		return too_large(err, name);
	to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0)
		return error_sys(err, "copy '%s'", name);
	if (from >= 0 && st->st_dev == c->device && copy_entries(c, from, to, depth + 1, err) < 0)
		return -1;
	if (fchmod(to, from < 0 ? 0 : st->st_mode & 0777) < 0 ||
		futimens(to, (const struct timespec[]){st->st_mtim, st->st_mtim}) < 0)
		return error_sys(err, "copy '%s'", name);
	return 0;
}

static int copy_entry(
	const struct copy *c, int from, int to, const char *name, int depth, struct error *err)
{
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "copy '%s'", name);
	if (S_ISDIR(st.st_mode))
		return copy_dir(c, from, to, name, &st, depth, err);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name, &st, err);
	return 0;
}

static int copy_entries(const struct copy *c, int from, int to, int depth, struct error *err)
{
	int dup = fcntl(from, F_DUPFD_CLOEXEC, 0);
	DIR *d = dup < 0 ? NULL : fdopendir(dup);
	struct dirent *e;
	int result = 0;

	if (!d) {
		result = error_sys(err, "list a directory");
		fd_close(&dup);
		return result;
	}
	if (depth > DEPTH_MAX)
		result = error_set(err, ERR_LIMIT, "directories more than %d deep", DEPTH_MAX);
	while (result == 0 && (e = readdir(d)))
		result = copy_entry(c, from, to, e->d_name, depth, err);
	closedir(d);
	return result;
}

int copy_tree(int from, int to, const struct idmap *m, struct error *err)
{
	struct copy c = {.ids = m, .own_uid = geteuid(), .own_gid = getegid()};
	struct stat st;

	if (fstat(from, &st) < 0)
		return error_sys(err, "stat the directory to copy");
	c.device = st.st_dev;
	return copy_entries(&c, from, to, 0, err);
}
