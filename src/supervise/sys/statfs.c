/* SPDX-License-Identifier: Apache-2.0 */
/* statfs and fstatfs: the figures of every file system are the contract's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/files/path.h"
#include "supervise/main.h"

enum {
	PINNED_BLOCK = 4096,
	PINNED_BLOCKS = 1 << 18, /* 1 GiB */
	PINNED_FILES = 65536,
	PINNED_NAME = 255,
	/* What a program can act on; how access times are kept is the host's affair. */
	SHOWN_FLAGS = ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC,
	FLAGS_VALID = 0x20, /* the kernel's ST_VALID */
};

static void pin(struct statfs *fs)
{
	bool sized = fs->f_blocks != 0; /* /proc and its kin have no size */

	fs->f_bsize = fs->f_frsize = PINNED_BLOCK;
	fs->f_blocks = sized ? PINNED_BLOCKS : 0;
	fs->f_bfree = fs->f_bavail = sized ? PINNED_BLOCKS / 2 : 0;
	fs->f_files = sized ? PINNED_FILES : 0;
	fs->f_ffree = sized ? PINNED_FILES / 2 : 0;
	memset(&fs->f_fsid, 0, sizeof(fs->f_fsid));
	fs->f_namelen = PINNED_NAME;
	fs->f_flags = (fs->f_flags & SHOWN_FLAGS) | FLAGS_VALID;
	memset(fs->f_spare, 0, sizeof(fs->f_spare));
}

/* The file system that our /sys is on: one of ours, or the host's that it is kept on. */
static bool is_where_sys_is(int fd)
{
	static dev_t dev;
	struct stat st;

	if (dev == 0 && stat("/sys", &st) == 0)
		dev = st.st_dev;
	return fstat(fd, &st) == 0 && st.st_dev == dev;
}

/* Our /sys is made of ordinary files; programs ask which kind of control group is mounted there. */
static void pin_type(int fd, struct statfs *fs)
{
	static const char sys[] = "/sys", cgroup[] = "/sys/fs/cgroup";
	char name[PATH_MAX];

	if (!is_where_sys_is(fd) || !path_name(fd, name))
		return;
	if (strncmp(name, cgroup, sizeof(cgroup) - 1) == 0)
		fs->f_type = CGROUP2_SUPER_MAGIC;
	else if (strcmp(name, sys) == 0 || strncmp(name, "/sys/", sizeof(sys)) == 0)
		fs->f_type = SYSFS_MAGIC;
	else
		return;
	fs->f_blocks = 0;
}

/* An image is kept on whatever its store is on, or is layers of a runtime's. */
static void pin_root(const struct path *p, struct statfs *fs)
{
	if (contract_get()->rootfs == NULL || p->kind != FS_PLAIN || fs->f_type == TMPFS_MAGIC ||
		fs->f_blocks == 0)
		return;
	fs->f_type = OVERLAYFS_SUPER_MAGIC;
	fs->f_flags |= ST_NOSUID | ST_NODEV;
}

static enum act answer(struct task *t, struct call *c, enum path_answer found, const struct path *p)
{
	struct statfs fs;

	if (found == PATH_ERROR)
		return ACT_NATIVE;
	if (found == PATH_ODD || fstatfs(p->fd, &fs) != 0)
		return ACT_LEAVE;
	pin_type(p->fd, &fs);
	pin_root(p, &fs);
	pin(&fs);
	return call_done(c, gmem_write(t, c->arg[1], &fs, sizeof(fs)));
}

enum act enter_statfs(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	return answer(t, c, path_find(t, AT_FDCWD, c->arg[0], 0, &p), &p);
}

enum act enter_fstatfs(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	if ((int)c->arg[0] < 0)
		return ACT_NATIVE;
	return answer(t, c, path_find_fd(t, (int)c->arg[0], &p), &p);
}

void leave_statfs(struct task *t, struct call *c)
{
	struct statfs fs;

	if (c->result != 0)
		return;
	if (gmem_read(t, c->arg[1], &fs, sizeof(fs)) != 0) {
		c->result = -EFAULT;
		return;
	}
	pin(&fs);
	c->result = gmem_write(t, c->arg[1], &fs, sizeof(fs));
}
