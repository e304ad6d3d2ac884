/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /sys of the view, kept between two launches: see sys_kept.h.
 *
 * How it works. STATE/launch/BOOT-ID/sys-HASH is one tree; the hash is of every path and text in
 * it. It is made under another name and renamed when it is whole. Only what a crash of the machine
 * leaves could be less, and that has another boot's name. The directories on the way are the
 * caller's alone, or nothing in them is looked at. Its files have a time that is later than any
 * run, as those have that are made for a run: the supervisor shows them as of its beginning.
 *
 * On disk the files belong to the caller; as root to the guest's own id, so that init's user
 * namespace maps them.
 */
#include "launch/sys_kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/remove.h"
#include "base/str.h"
#include "launch/mounts.h"
#include "launch/sys.h"

/* As many as these contracts are on one boot; the others fill theirs. */
enum { KEPT_MAX = 32, NAMES_MAX = 1000, DIR_MODE = 0755 };
/* 2037-01-01: what 32 bits can hold. */
#define TIME_LATE 2114380800

void sys_kept_finish(struct sys_kept *k)
{
	fd_close(&k->tree);
	mem_cleanup(&k->path);
}

static bool is_ours_alone(int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 07777) == 0700;
}

/* A directory that nobody else may look into, made when it is absent; -1. */
static int open_private(int dir, const char *name)
{
	autoclose int fd = -1;

	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && is_ours_alone(fd) ? take_fd(fd) : -1;
}

static bool read_boot(char ret[40])
{
	autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, 39);

	if (n <= 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return ret[0] && ret[strspn(ret, "0123456789abcdef-")] == '\0';
}

/* Of other boots: nobody uses them any more. */
static void remove_older(int launch, const char *boot)
{
	auto_names struct beneath_names names = {0};
	struct error ignored;

	if (beneath_list(launch, NAMES_MAX, &names, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (strcmp(names.items[i], boot) != 0 &&
			remove_tree(launch, names.items[i], &ignored) < 0)
			continue;
}

/* The directory of this boot's trees; -1. */
static int open_boot(const char *state, char **ret_path)
{
	autoclose int top = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), launch = -1;
	autoclose int dir = -1;
	char boot[40];

	launch = top < 0 || !read_boot(boot) ? -1 : open_private(top, "launch");
	if (launch < 0)
		return -1;
	dir = openat(launch, boot, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0) {
		remove_older(launch, boot);
		dir = open_private(launch, boot);
	}
	if (dir < 0 || !is_ours_alone(dir))
		return -1;
	*ret_path = str_format("%s/launch/%s", state, boot);
	return take_fd(dir);
}

/* As the caller's own set-up would have left it: whose it is, and that nobody may write. A file
 * system that does not count the links of directories would be seen by it. */
static bool is_whole(int dir, const char *name, uid_t uid, gid_t gid)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == uid && st.st_gid == gid && (st.st_mode & 07777) == DIR_MODE &&
	       st.st_mtim.tv_sec == TIME_LATE && st.st_nlink > 2;
}

/* Owner and times of everything below, then of itself. Takes the descriptor. */
static int finish_tree(int dir, uid_t uid, gid_t gid)
{
	const struct timespec late[2] = {{.tv_sec = TIME_LATE}, {.tv_sec = TIME_LATE}};
	DIR *stream = fdopendir(dir);
	const struct dirent *e;
	int r = 0;

	if (!stream) {
		close(dir);
		return -1;
	}
	while (r == 0 && (errno = 0, e = readdir(stream))) {
		int below;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		below = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			r = finish_tree(below, uid, gid);
		else if (fchownat(dir, e->d_name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 ||
			 utimensat(dir, e->d_name, late, AT_SYMLINK_NOFOLLOW) < 0)
			r = -1;
	}
	if (errno || fchown(dir, uid, gid) < 0 || futimens(dir, late) < 0)
		r = -1;
	closedir(stream);
	return r;
}

static bool is_full(int dir)
{
	auto_names struct beneath_names names = {0};
	struct error ignored;

	return beneath_list(dir, NAMES_MAX, &names, &ignored) < 0 || names.count >= KEPT_MAX;
}

/* Whether an id-mapped mount of it can be made: not on every file system. */
static bool can_map(const char *path, const struct idmap *ids)
{
	autoclose int tree = -1;
	struct error ignored;
	bool mapped = false;

	return !ids->privileged || (idmap_tree(ids, path, &tree, &mapped, &ignored) == 0 && mapped);
}

static bool fill(int dir, const char *temp, char *const *texts, uid_t uid, gid_t gid)
{
	autoclose int fd = -1;
	struct error ignored;
	mode_t old = umask(0);
	bool done = false;

	if (mkdirat(dir, temp, DIR_MODE) == 0) {
		fd = openat(dir, temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		done = fd >= 0 && sys_fill(fd, texts, true, &ignored) == 0 &&
		       finish_tree(take_fd(fd), uid, gid) == 0;
	}
	umask(old);
	return done;
}

/* Once a boot and contract. Another one may be at it too: the first to rename has made it. */
static void make(int dir, const char *path, const char *name, const struct idmap *ids,
	char *const *texts, uid_t uid, gid_t gid)
{
	char temp[] = "new-0123456789abcdef";
	autofree char *temp_path = NULL;
	struct error ignored;

	if (is_full(dir))
		return;
	random_hex(strchr(temp, '-') + 1, 16);
	temp_path = str_format("%s/%s", path, temp);
	if (fill(dir, temp, texts, uid, gid) && can_map(temp_path, ids) &&
		syscall(SYS_renameat2, dir, temp, dir, name, 1U /* RENAME_NOREPLACE */) == 0)
		return;
	if (remove_tree(dir, temp, &ignored) < 0)
		return;
}

void sys_kept_find(const char *state, const struct contract *c, const struct idmap *ids,
	char *const *texts, struct sys_kept *ret)
{
	uid_t uid = ids->privileged ? c->uid : ids->uid;
	gid_t gid = ids->privileged ? c->gid : ids->gid;
	autofree char *path = NULL;
	autoclose int dir = open_boot(state, &path);
	struct error ignored;
	char name[32];

	*ret = (struct sys_kept){.tree = -1};
	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "sys-%016llx-%x", (unsigned long long)sys_hash(texts),
		(unsigned)uid);
	if (!is_whole(dir, name, uid, gid)) {
		make(dir, path, name, ids, texts, uid, gid);
		if (!is_whole(dir, name, uid, gid))
			return;
	}
	ret->path = str_format("%s/%s", path, name);
	/* From the directory that was looked at, whatever the path leads to by now. */
	if (ids->privileged && mounts_clone(dir, name, &ret->tree, &ignored) < 0)
		sys_kept_finish(ret);
}

int sys_kept_map(const struct sys_kept *k, int mapping, struct error *err)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)mapping};

	if (mount_setattr(k->tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return error_sys(err, "map the owner of '%s'", k->path);
	return 0;
}

int sys_kept_attach(const struct sys_kept *k, int root, const char *name, struct error *err)
{
	autoclose int own = -1;
	int tree = k->tree;

	if (tree < 0) {
		if (mounts_clone(AT_FDCWD, k->path, &own, err) < 0)
			return -1;
		tree = own;
	}
	if (mounts_set_kind(tree, MOUNTS_READ_ONLY, err) < 0)
		return -1;
	return mounts_attach(tree, root, name, err);
}
