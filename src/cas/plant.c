/* SPDX-License-Identifier: Apache-2.0 */
/* Making a tree: see plant.h. */
#include "cas/plant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/deep.h"

void plant_init(struct plant *p, int top)
{
	*p = (struct plant){.top = top, .parent = -1};
}

void plant_finish(struct plant *p)
{
	fd_close(&p->parent);
	free(p->parent_path);
	for (size_t i = 0; i < p->count; i++)
		free(p->waiting[i].path);
	free(p->waiting);
	plant_init(p, -1);
}

static int fail(const char *what, const char *path, struct error *err)
{
	autofree char *safe = str_printable(path, strlen(path), 200);

	return error_sys(err, "%s '%s'", what, safe);
}

/* The directory that a path lies in, and its last part. */
static int find_parent(
	struct plant *p, const char *path, int *ret_dir, const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*ret_dir = p->top;
	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return 0;
	if (p->parent < 0 || strlen(p->parent_path) != len ||
		memcmp(p->parent_path, path, len) != 0) {
		fd_close(&p->parent);
		free(p->parent_path);
		p->parent_path = mem_strndup(path, len);
		p->parent = deep_open(p->top, p->parent_path);
		if (p->parent < 0)
			return fail("open the directory of", path, err);
	}
	*ret_dir = p->parent;
	return 0;
}

int plant_file(struct plant *p, const char *path, int *ret_fd, struct error *err)
{
	const char *name;
	int dir, fd;

	if (find_parent(p, path, &dir, &name, err) < 0)
		return -1;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail("make", path, err);
	*ret_fd = fd;
	return 0;
}

/* chmod drops setgid in silence where the group is not ours. */
int plant_mode(int fd, mode_t mode, const char *path, struct error *err)
{
	struct stat st;

	if (fchmod(fd, mode) < 0 || fstat(fd, &st) < 0)
		return fail("set the mode of", path, err);
	if ((st.st_mode & 07777) != mode)
		return error_set(err, ERR_UNSUPPORTED,
			"the mode %04o of '%.200s' cannot be set here (it became %04o)",
			(unsigned)mode, path, (unsigned)st.st_mode & 07777);
	return 0;
}

int plant_xattrs(
	int fd, const struct tar_xattr *xattrs, size_t count, const char *path, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct tar_xattr *x = &xattrs[i];

		/* Others decide about rights, and an image may not. */
		if (!str_has_prefix(x->name, "user."))
			return error_set(
				err, ERR_FORMAT, "an attribute that does not begin with 'user.'");
		if (fsetxattr(fd, x->name, x->value, x->len, XATTR_CREATE) < 0)
			return fail("set an attribute of", path, err);
	}
	return 0;
}

static void wait_with_mode(struct plant *p, const char *path, mode_t mode)
{
	if (p->count == p->room) {
		p->room = p->room * 2 + 32;
		p->waiting = mem_grow(p->waiting, p->room, sizeof(*p->waiting));
	}
	p->waiting[p->count++] = (struct plant_waiting){mem_strdup(path), mode};
}

int plant_directory(struct plant *p, const char *path, mode_t mode, const struct tar_xattr *xattrs,
	size_t xattr_count, struct error *err)
{
	/* setgid would be inherited by what is made in it. */
	bool waits = (mode & 0700) != 0700 || (mode & 07000);
	autoclose int fd = -1;
	const char *name;
	int dir;

	if (find_parent(p, path, &dir, &name, err) < 0)
		return -1;
	if (mkdirat(dir, name, 0700) < 0)
		return fail("make", path, err);
	if (waits)
		wait_with_mode(p, path, mode);
	if (waits && xattr_count == 0)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail("open", path, err);
	if (plant_xattrs(fd, xattrs, xattr_count, path, err) < 0)
		return -1;
	return waits ? 0 : plant_mode(fd, mode, path, err);
}

int plant_link(struct plant *p, const char *path, const char *target, struct error *err)
{
	const char *name;
	int dir;

	if (find_parent(p, path, &dir, &name, err) < 0)
		return -1;
	return symlinkat(target, dir, name) < 0 ? fail("make the link", path, err) : 0;
}

/* From the last to the first, so that what a directory holds comes before it. */
int plant_done(struct plant *p, struct error *err)
{
	for (size_t i = p->count; i-- > 0;) {
		const struct plant_waiting *w = &p->waiting[i];
		autoclose int fd = deep_open(p->top, w->path);

		if (fd < 0)
			return fail("open", w->path, err);
		if (plant_mode(fd, w->mode, w->path, err) < 0)
			return -1;
	}
	return 0;
}
