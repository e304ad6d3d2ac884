/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A given directory as the root of the view: see rootfs.h.
 *
 * How it works: it is never written to. Directories that a bind or the private copy needs and that
 * are not there are made in a tmpfs, which is laid over it as the upper of two read-only layers of
 * an overlay; without any the directory itself is the root. Our /dev, /sys and the files of /etc
 * are made in a stage that is attached at /tmp for the time of building and bound from there.
 */
#include "launch/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/etc.h"
#include "launch/mounts.h"
#include "launch/proc.h"
#include "launch/sys.h"

/* Opens a path of the root without following any symlink. */
static int open_plain(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* True when nothing of ours will make the place and the root does not have it. */
static bool is_missing(int root, const char *dest)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	autoclose int fd = -1;

	if (strncmp(dest, "/tmp/", 5) == 0)
		return false;
	fd = (int)syscall(SYS_openat2, root, dest, &how, sizeof(how));
	return fd < 0 && errno == ENOENT;
}

/* One part of a missing path in the extra layer, with the mode that the root's directory has. */
static int make_part(int root, int extra, const char *prefix, bool directory, struct error *err)
{
	autoclose int there = open_plain(root, prefix), made = -1;
	struct stat st = {.st_mode = 0755};

	if (there < 0 && errno == ELOOP)
		return error_set(err, ERR_MISSING,
			"'%s' is a symlink in the root file system and what is behind it is "
			"missing; make "
			"it there, or bind elsewhere",
			prefix);
	if (there >= 0 && fstat(there, &st) < 0)
		return error_sys(err, "stat '%s' of the root file system", prefix);
	if (!directory)
		return mounts_text(extra, prefix + 1, "", 0, err);
	if (mkdirat(extra, prefix + 1, 0755) < 0)
		return errno == EEXIST ? 0 : error_sys(err, "make the place '%s' inside", prefix);
	made = openat(extra, prefix + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (made < 0 || fchmod(made, st.st_mode & 07777) < 0)
		return error_sys(err, "make the place '%s' inside", prefix);
	return 0;
}

static int make_missing(int root, int extra, const struct plan_place *at, struct error *err)
{
	char prefix[PATH_MAX];
	size_t len = strlen(at->dest), end = 0;

	if (at->dest[0] != '/' || len >= sizeof(prefix) || strstr(at->dest, "/.."))
		return error_set(err, ERR_USAGE, "'%.200s' is not a plain absolute path", at->dest);
	memcpy(prefix, at->dest, len + 1);
	while (len > 1 && prefix[len - 1] == '/')
		prefix[--len] = '\0';
	for (;;) {
		char kept;

		end += 1 + strcspn(prefix + end + 1, "/");
		kept = prefix[end];
		prefix[end] = '\0';
		if (make_part(root, extra, prefix, kept || at->directory, err) < 0)
			return -1;
		if (!kept)
			return 0;
		prefix[end] = kept;
	}
}

/* What a run needs and an image may lack, or have as a symlink to nowhere. */
static const struct plan_place image_places[] = {
	{.dest = "/dev", .directory = true},
	{.dest = "/proc", .directory = true},
	{.dest = "/sys", .directory = true},
	{.dest = "/tmp", .directory = true},
	{.dest = "/etc/hosts"},
	{.dest = "/etc/hostname"},
	{.dest = "/etc/resolv.conf"},
};

static bool is_image_place_missing(int root, const struct plan_place *at)
{
	autoclose int fd = open_plain(root, at->dest), etc = open_plain(root, "/etc");
	struct stat st;

	/* An /etc that is a symlink is left as it is. */
	if (!at->directory && etc < 0 && errno != ENOENT)
		return false;
	return fd < 0 || fstat(fd, &st) < 0 ||
	       (at->directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode));
}

/* Lays the extra layer over *root, detached both; *root becomes the overlay. */
static int lay_over(int *root, int scratch, struct error *err)
{
	static const struct mounts_option options[] = {
		{"lowerdir", "extra:root"}, {"userxattr", NULL}};
	int tree = -1;

	if (mkdirat(scratch, "root", 0755) < 0 || fchdir(scratch) < 0)
		return error_sys(err, "make a layer");
	if (mounts_attach(*root, scratch, "root", err) < 0)
		return -1;
	if (mounts_new("overlay", MOUNTS_READ_ONLY, options, ARRAY_LEN(options), &tree, err) < 0)
		return error_wrap(err, "the root file system lacks a directory to bind to, and "
				       "none can be laid over it");
	fd_close(root);
	*root = tree;
	return 0;
}

static int add_missing(const struct plan *p, int *root, struct error *err)
{
	size_t own = p->spec->is_image ? ARRAY_LEN(image_places) : 0;
	autoclose int scratch = -1, extra = -1;

	for (size_t i = 0; i < own + p->place_count; i++) {
		const struct plan_place *at = i < own ? &image_places[i] : &p->places[i - own];

		if (!(i < own ? is_image_place_missing(*root, at) : is_missing(*root, at->dest)))
			continue;
		if (scratch < 0 && (proc_make_stage(&scratch, err) < 0 ||
					   mounts_attach(scratch, AT_FDCWD, "/", err) < 0 ||
					   mounts_make_dir(scratch, "extra", &extra, err) < 0))
			return -1;
		if (make_missing(*root, extra, at, err) < 0)
			return -1;
	}
	if (scratch < 0)
		return 0;
	if (lay_over(root, scratch, err) < 0)
		return -1;
	return mounts_detach(scratch, err);
}

/* The fixed files of /etc stand in for those that are there. */
static int replace_etc(const struct plan *p, int stage, int root, struct error *err)
{
	autoclose int etc = openat(root, "etc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclose int texts = -1;

	if (mounts_make_dir(stage, "etc", &texts, err) < 0)
		return -1;
	for (size_t i = 0; etc >= 0 && i < etc_file_count; i++) {
		const char *name = etc_files[i].name;
		struct stat st;

		/* An image is the same on every host, its machine-id too. */
		if (p->spec->is_image && strcmp(name, "machine-id") == 0)
			continue;
		if (!etc_files[i].replaces || fstatat(etc, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode))
			continue;
		if (mounts_text(texts, name, p->texts[i], strlen(p->texts[i]), err) < 0 ||
			mounts_bind(texts, name, etc, name, MOUNTS_READ_ONLY, err) < 0)
			return -1;
	}
	return 0;
}

/* A new directory of the stage over the one of this name in the root, which must be there. */
static int show_stage_dir(int stage, int root, const char *name, int *ret_fd, struct error *err)
{
	autoclose int made = -1;

	if (mounts_make_dir(stage, name, &made, err) < 0)
		return -1;
	if (mounts_bind(stage, name, root, name, MOUNTS_WRITABLE, err) < 0)
		return error_wrap(err, "the root file system needs an empty directory '/%s'", name);
	*ret_fd = openat(root, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd < 0 ? error_sys(err, "open '/%s'", name) : 0;
}

static int furnish(const struct plan *p, int root, struct error *err)
{
	autoclose int stage = -1, dev = -1, sys = -1;

	if (proc_make_stage(&stage, err) < 0)
		return -1;
	if (mounts_attach(stage, root, "tmp", err) < 0)
		return error_wrap(err, "the root file system needs an empty directory '/tmp'");
	if (show_stage_dir(stage, root, "dev", &dev, err) < 0 || proc_fill_dev(p, dev, err) < 0 ||
		mounts_seal(dev, err) < 0 || show_stage_dir(stage, root, "sys", &sys, err) < 0 ||
		sys_fill(sys, p->sys_texts, p->contract->deterministic, err) < 0 ||
		mounts_seal(sys, err) < 0)
		return -1;
	if (replace_etc(p, stage, root, err) < 0 || proc_attach(stage, root, err) < 0 ||
		mounts_detach(stage, err) < 0)
		return -1;
	return proc_attach_tmp(p, root, "tmp", err);
}

int rootfs_build(const struct plan *p, int *ret_root, struct error *err)
{
	autoclose int root = -1;

	if (p->rootfs_tree >= 0)
		root = fcntl(p->rootfs_tree, F_DUPFD_CLOEXEC, 0);
	else if (mounts_clone(AT_FDCWD, p->contract->rootfs, &root, err) < 0)
		return error_wrap(err, "root file system");
	if (add_missing(p, &root, err) < 0 || mounts_set_kind(root, MOUNTS_READ_ONLY, err) < 0 ||
		mounts_attach(root, AT_FDCWD, "/", err) < 0 || furnish(p, root, err) < 0)
		return -1;
	*ret_root = take_fd(root);
	return 0;
}
