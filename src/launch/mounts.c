/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts by descriptor: see mounts.h. */
#include "launch/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static const uint64_t attrs_of[] = {
	[MOUNTS_READ_ONLY] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY,
	[MOUNTS_WRITABLE] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	[MOUNTS_DEVICE] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
};

int mounts_new(const char *type, enum mounts_kind kind, const struct mounts_option *options,
	size_t count, int *ret_fd, struct error *err)
{
	autoclose int fs = fsopen(type, FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return error_sys(err, "open a %s file system", type);
	for (size_t i = 0; i < count; i++) {
		const struct mounts_option *o = &options[i];
		unsigned command = o->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (fsconfig(fs, command, o->key, o->value, 0) < 0)
			return error_sys(err, "set %s of %s", o->key, type);
	}
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return error_sys(err, "make a %s file system", type);
	fd = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attrs_of[kind]);
	if (fd < 0)
		return error_sys(err, "mount %s", type);
	*ret_fd = fd;
	return 0;
}

int mounts_clone(int dirfd, const char *path, int *ret_fd, struct error *err)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_NO_AUTOMOUNT;
	int fd = open_tree(dirfd, path, flags | (*path ? 0 : AT_EMPTY_PATH));

	if (fd < 0)
		return error_sys(err, "open '%s'", path);
	*ret_fd = fd;
	return 0;
}

int mounts_set_kind(int tree, enum mounts_kind kind, struct error *err)
{
	/* Private: no mount made later on the host shows up inside. */
	struct mount_attr attr = {.attr_set = attrs_of[kind], .propagation = MS_PRIVATE};

	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return error_sys(err, "restrict a mount");
	return 0;
}

int mounts_attach(int tree, int dirfd, const char *path, struct error *err)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0 : MOVE_MOUNT_T_EMPTY_PATH);

	if (move_mount(tree, "", dirfd, path, flags) < 0)
		return error_sys(err, "mount over '%s'", path);
	return 0;
}

int mounts_bind(int from_dir, const char *from, int to_dir, const char *to, enum mounts_kind kind,
	struct error *err)
{
	autoclose int tree = -1;

	if (mounts_clone(from_dir, from, &tree, err) < 0 || mounts_set_kind(tree, kind, err) < 0)
		return -1;
	return mounts_attach(tree, to_dir, to, err);
}

int mounts_seal(int fd, struct error *err)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return error_sys(err, "make a mount read-only");
	return 0;
}

int mounts_detach(int fd, struct error *err)
{
	if (fchdir(fd) < 0 || umount2(".", MNT_DETACH) < 0)
		return error_sys(err, "detach a mount");
	return 0;
}

static int open_inside(int root, const char *path, bool *ret_is_dir)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	struct stat st;

	if (fd >= 0)
		*ret_is_dir = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
	return fd;
}

/* Makes the last part of the path `parent`/name; the name must not exist. */
static int make_one(int parent, const char *name, bool directory)
{
	autoclose int file = -1;

	if (directory)
		return mkdirat(parent, name, 0755);
	file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return file < 0 ? -1 : 0;
}

int mounts_place(int root, const char *path, bool directory, int *ret_fd, struct error *err)
{
	char prefix[PATH_MAX];
	autoclose int at = open_inside(root, "/", &(bool){0});
	size_t len = strlen(path), pos = 0;
	bool is_dir = true;

	if (at < 0 || len >= sizeof(prefix))
		return error_set(err, ERR_LIMIT, "path '%.200s' is too long", path);
	for (;;) {
		size_t begin, end;
		bool last;
		int next;

		begin = pos + strspn(path + pos, "/");
		if (!path[begin])
			break;
		end = begin + strcspn(path + begin, "/");
		last = !path[end + strspn(path + end, "/")];
		memcpy(prefix, path, end);
		prefix[end] = '\0';
		next = open_inside(root, prefix, &is_dir);
		if (next < 0 && errno == ENOENT) {
			if (make_one(at, prefix + begin, !last || directory) < 0)
				return error_sys(err, "make the place '%s' inside", prefix);
			next = open_inside(root, prefix, &is_dir);
		}
		if (next < 0)
			return error_sys(err, "open the place '%s' inside", prefix);
		fd_close(&at);
		at = next;
		pos = end;
	}
	if (is_dir != directory)
		return error_set(err, ERR_USAGE, "'%s' inside is %s, what is mounted there is not",
			path, is_dir ? "a directory" : "not a directory");
	*ret_fd = take_fd(at);
	return 0;
}

int mounts_make_dir(int dirfd, const char *name, int *ret_fd, struct error *err)
{
	int fd;

	if (mkdirat(dirfd, name, 0755) < 0)
		return error_sys(err, "make '/%s'", name);
	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open '/%s'", name);
	*ret_fd = fd;
	return 0;
}

int mounts_text(int dirfd, const char *name, const char *text, size_t len, struct error *err)
{
	autoclose int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (fd < 0)
		return error_sys(err, "make '%s'", name);
	return fd_write_all(fd, text, len, err);
}
