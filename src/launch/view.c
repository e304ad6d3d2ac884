/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system that the guest sees: see view.h.
 *
 * How it works: everything is attached by descriptor beneath `root` while the host's tree is still
 * there to take from; pivot_root comes last. Without a given root file system the root is a tmpfs
 * of our own; with one, see rootfs.c.
 */
#include "launch/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/etc.h"
#include "launch/layer.h"
#include "launch/mounts.h"
#include "launch/proc.h"
#include "launch/rootfs.h"
#include "launch/sys.h"

/* /usr and its friends: directories are bound, symlinks stay symlinks, others are not shown. */
static int show_host_dir(int root, const char *name, struct error *err)
{
	char path[16] = "/", target[PATH_MAX];
	struct stat st;
	ssize_t len;

	strncat(path, name, sizeof(path) - 2);
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "stat '%s'", path);
	if (S_ISDIR(st.st_mode)) {
		if (mkdirat(root, name, 0755) < 0)
			return error_sys(err, "make '%s'", path);
		return mounts_bind(AT_FDCWD, path, root, name, MOUNTS_READ_ONLY, err);
	}
	if (!S_ISLNK(st.st_mode))
		return 0;
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return error_sys(err, "read the symlink '%s'", path);
	target[len] = '\0';
	if (symlinkat(target, root, name) < 0)
		return error_sys(err, "make the symlink '%s'", path);
	return 0;
}

static int show_etc_link(int etc, const struct plan_etc *e, struct error *err)
{
	char target[PATH_MAX];
	ssize_t len = readlink(e->path, target, sizeof(target) - 1);

	if (len < 0)
		return error_sys(err, "read the symlink '%s'", e->path);
	target[len] = '\0';
	if (symlinkat(target, etc, e->name) < 0)
		return error_sys(err, "make the symlink '%s'", e->path);
	return 0;
}

static int show_etc_entry(int etc, const struct plan_etc *e, struct error *err)
{
	if (e->type == S_IFLNK)
		return show_etc_link(etc, e, err);
	if (e->type != S_IFDIR && e->type != S_IFREG)
		return 0;
	if (e->type == S_IFREG && mounts_text(etc, e->name, "", 0, err) < 0)
		return -1;
	if (e->type == S_IFDIR && mkdirat(etc, e->name, 0755) < 0)
		return error_sys(err, "make '%s'", e->path);
	return mounts_bind(AT_FDCWD, e->path, etc, e->name, MOUNTS_READ_ONLY, err);
}

static int fill_host_etc(const struct plan *p, int root, struct error *err)
{
	autoclose int etc = -1;

	if (mounts_make_dir(root, "etc", &etc, err) < 0)
		return -1;
	if (symlinkat("/usr/share/zoneinfo/Etc/UTC", etc, "localtime") < 0)
		return error_sys(err, "make /etc/localtime");
	for (size_t i = 0; i < etc_file_count; i++)
		if (mounts_text(etc, etc_files[i].name, p->texts[i], strlen(p->texts[i]), err) < 0)
			return -1;
	if (mkdirat(etc, "ssl", 0755) < 0)
		return error_sys(err, "make /etc/ssl");
	for (size_t i = 0; i < p->etc_count; i++)
		if (show_etc_entry(etc, &p->etc[i], err) < 0)
			return -1;
	return 0;
}

/* Without a given root file system: the stage is the root. */
static int build_host_view(const struct plan *p, int *ret_root, struct error *err)
{
	static const char *const dirs[] = {
		"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "libo32"};
	autoclose int root = -1, dev = -1, sys = -1;

	if (proc_make_stage(&root, err) < 0 || mounts_attach(root, AT_FDCWD, "/", err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (show_host_dir(root, dirs[i], err) < 0)
			return -1;
	if (fill_host_etc(p, root, err) < 0 || mounts_make_dir(root, "dev", &dev, err) < 0 ||
		proc_fill_dev(p, dev, err) < 0 || mounts_make_dir(root, "sys", &sys, err) < 0 ||
		(p->sys.path ? sys_kept_attach(&p->sys, root, "sys", err)
			     : sys_fill(sys, p->sys_texts, p->contract->deterministic, err)) < 0)
		return -1;
	if (mkdirat(root, "tmp", 0755) < 0 || mkdirat(root, "proc", 0555) < 0)
		return error_sys(err, "make the root directory");
	if (proc_attach(root, root, err) < 0 || proc_attach_tmp(p, root, "tmp", err) < 0)
		return -1;
	*ret_root = take_fd(root);
	return 0;
}

static int show_place(
	const struct plan *p, const struct plan_place *at, int root, int link, struct error *err)
{
	autoclose int to = -1, own = -1;
	int tree = at->tree;

	if (mounts_place(root, at->dest, at->directory, &to, err) < 0) {
		if (err->sys == EROFS)
			return error_set(err, ERR_MISSING,
				"'%s' does not exist inside and cannot be made there: make it in "
				"the root "
				"file system, or bind elsewhere",
				at->dest);
		return -1;
	}
	if (at->kind == PLAN_COPY)
		return layer_attach(p, to, link, err);
	if (tree < 0) {
		if (mounts_clone(AT_FDCWD, at->source, &own, err) < 0)
			return error_wrap(err, "bind");
		tree = own;
	}
	if (mounts_set_kind(
		    tree, at->kind == PLAN_WRITABLE ? MOUNTS_WRITABLE : MOUNTS_READ_ONLY, err) < 0)
		return -1;
	return mounts_attach(tree, to, "", err);
}

static int enter(int root, struct error *err)
{
	/* pivot_root(2): the old root lands on top of the new one, and is taken off there. */
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
		umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return error_sys(err, "enter the new root");
	return 0;
}

int view_enter(const struct plan *p, int link, struct error *err)
{
	autoclose int root = -1;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, "make the mounts private");
	if ((p->contract->rootfs ? rootfs_build : build_host_view)(p, &root, err) < 0)
		return -1;
	for (size_t i = 0; i < p->place_count; i++)
		if (show_place(p, &p->places[i], root, link, err) < 0)
			return -1;
	if (mounts_seal(root, err) < 0)
		return -1;
	return enter(root, err);
}
