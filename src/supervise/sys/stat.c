/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stat family. The supervisor looks the file up itself and answers in one stop; where it is not
 * sure to see what the guest would see, the kernel answers and the leave handler rewrites.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/proc/procfs.h"
#include "supervise/files/inode.h"
#include "supervise/files/view.h"

#define NS_PER_S 1000000000ll

enum {
	STAT_FLAGS = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH,
	STATX_FLAGS = STAT_FLAGS | AT_STATX_SYNC_TYPE,
	STATX_SHOWN = STATX_BASIC_STATS | STATX_BTIME,
};

static struct timespec to_timespec(int64_t ns)
{
	int64_t rest = (ns % NS_PER_S + NS_PER_S) % NS_PER_S;

	return (struct timespec){(ns - rest) / NS_PER_S, rest};
}

static struct statx_timestamp to_stamp(int64_t ns)
{
	struct timespec ts = to_timespec(ns);

	return (struct statx_timestamp){.tv_sec = ts.tv_sec, .tv_nsec = (uint32_t)ts.tv_nsec};
}

static int write_stat(struct task *t, uint64_t addr, const struct view *v)
{
	struct stat st;

	memset(&st, 0, sizeof(st));
	st.st_dev = VIEW_DEVICE;
	st.st_ino = v->ino;
	st.st_mode = v->mode;
	st.st_nlink = v->nlink;
	st.st_uid = v->uid;
	st.st_gid = v->gid;
	st.st_rdev = makedev(v->rdev_major, v->rdev_minor);
	st.st_size = (off_t)v->size;
	st.st_blksize = VIEW_BLOCK;
	st.st_blocks = (blkcnt_t)v->blocks;
	st.st_atim = to_timespec(v->times.atime_ns);
	st.st_mtim = to_timespec(v->times.mtime_ns);
	st.st_ctim = to_timespec(v->times.ctime_ns);
	return gmem_write(t, addr, &st, sizeof(st));
}

static int write_statx(struct task *t, uint64_t addr, const struct view *v)
{
	struct statx stx;

	memset(&stx, 0, sizeof(stx));
	stx.stx_mask = STATX_SHOWN;
	stx.stx_blksize = VIEW_BLOCK;
	stx.stx_nlink = v->nlink;
	stx.stx_uid = v->uid;
	stx.stx_gid = v->gid;
	stx.stx_mode = (uint16_t)v->mode;
	stx.stx_ino = v->ino;
	stx.stx_size = v->size;
	stx.stx_blocks = v->blocks;
	stx.stx_atime = to_stamp(v->times.atime_ns);
	stx.stx_btime = to_stamp(v->times.btime_ns);
	stx.stx_ctime = to_stamp(v->times.ctime_ns);
	stx.stx_mtime = to_stamp(v->times.mtime_ns);
	stx.stx_rdev_major = v->rdev_major;
	stx.stx_rdev_minor = v->rdev_minor;
	stx.stx_dev_minor = VIEW_DEVICE;
	return gmem_write(t, addr, &stx, sizeof(stx));
}

typedef int write_fn(struct task *, uint64_t, const struct view *);

static enum act answer(struct task *t, struct call *c, enum path_answer found, const struct path *p,
	write_fn *write, uint64_t addr)
{
	char name[PATH_MAX];
	struct view v;

	if (found == PATH_ERROR)
		return ACT_NATIVE; /* the kernel says the same, in its own order of checks */
	if (found == PATH_HIDDEN)
		return call_done(c, -ENOENT);
	if (found == PATH_ODD)
		return ACT_LEAVE;
	if (p->kind == FS_PROC && path_name(p->fd, name) && procfs_is_absent(name))
		return call_done(c, -ENOENT);
	view_of(p, &v);
	return call_done(c, write(t, addr, &v));
}

static unsigned find_flags(uint64_t at)
{
	return (at & AT_SYMLINK_NOFOLLOW ? PATH_NOFOLLOW : 0) |
	       (at & AT_EMPTY_PATH ? PATH_EMPTY : 0);
}

enum act enter_stat(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	return answer(
		t, c, path_find_state(t, AT_FDCWD, c->arg[0], 0, &p), &p, write_stat, c->arg[1]);
}

enum act enter_lstat(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	return answer(t, c, path_find_state(t, AT_FDCWD, c->arg[0], PATH_NOFOLLOW, &p), &p,
		write_stat, c->arg[1]);
}

enum act enter_fstat(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	if ((int)c->arg[0] < 0)
		return ACT_NATIVE;
	return answer(t, c, path_find_fd(t, (int)c->arg[0], &p), &p, write_stat, c->arg[1]);
}

enum act enter_newfstatat(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;

	if (c->arg[3] & ~(uint64_t)STAT_FLAGS & 0xffffffff)
		return ACT_NATIVE; /* EINVAL */
	return answer(t, c,
		path_find_state(t, (int)c->arg[0], c->arg[1], find_flags(c->arg[3]), &p), &p,
		write_stat, c->arg[2]);
}

enum act enter_statx(struct task *t, struct call *c)
{
	auto_path struct path p = PATH_NONE;
	uint64_t flags = c->arg[2] & 0xffffffff;

	if (flags & ~(uint64_t)STATX_FLAGS || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE ||
		c->arg[3] & STATX__RESERVED)
		return ACT_NATIVE; /* EINVAL */
	return answer(t, c, path_find_state(t, (int)c->arg[0], c->arg[1], find_flags(flags), &p),
		&p, write_statx, c->arg[4]);
}

/* The kernel answered: nothing of the host stays in it. */
static void rewrite(struct task *t, struct call *c, uint64_t addr)
{
	struct stat st;
	struct view v;
	struct statx none = {0};

	if (c->result != 0)
		return;
	if (gmem_read(t, addr, &st, sizeof(st)) != 0) {
		c->result = -EFAULT;
		return;
	}
	v = (struct view){
		.ino = inode_get_pair(major(st.st_dev), minor(st.st_dev), st.st_ino)->number,
		.size = (uint64_t)st.st_size,
		.blocks = ((uint64_t)st.st_size + 511) / 512,
		.mode = st.st_mode,
		.nlink = S_ISDIR(st.st_mode) ? 2 : (uint32_t)st.st_nlink,
		.uid = view_owner(st.st_uid),
		.gid = view_owner(st.st_gid),
		.rdev_major = major(st.st_rdev),
		.rdev_minor = minor(st.st_rdev),
	};
	ftime_show(&none, true, &v.times);
	c->result = write_stat(t, addr, &v);
}

void leave_stat(struct task *t, struct call *c)
{
	rewrite(t, c, c->arg[1]);
}

void leave_newfstatat(struct task *t, struct call *c)
{
	rewrite(t, c, c->arg[2]);
}

void leave_statx(struct task *t, struct call *c)
{
	struct statx stx, none = {0};
	struct view v;

	if (c->result != 0)
		return;
	if (gmem_read(t, c->arg[4], &stx, sizeof(stx)) != 0) {
		c->result = -EFAULT;
		return;
	}
	v = (struct view){
		.ino = inode_get_pair(stx.stx_dev_major, stx.stx_dev_minor, stx.stx_ino)->number,
		.size = stx.stx_size,
		.blocks = (stx.stx_size + 511) / 512,
		.mode = stx.stx_mode,
		.nlink = S_ISDIR(stx.stx_mode) ? 2 : stx.stx_nlink,
		.uid = view_owner(stx.stx_uid),
		.gid = view_owner(stx.stx_gid),
		.rdev_major = stx.stx_rdev_major,
		.rdev_minor = stx.stx_rdev_minor,
	};
	ftime_show(&none, true, &v.times);
	c->result = write_statx(t, c->arg[4], &v);
}
