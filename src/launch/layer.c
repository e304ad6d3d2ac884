/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private copy of a directory: see layer.h.
 *
 * How it works: the lower directory and a sized tmpfs are attached for a moment at two names of a
 * scratch tmpfs, so that the overlay is given plain relative names: no path has to be escaped, and
 * /proc/self/mountinfo shows none of the host's. A probe of user xattrs on the tmpfs tells whether
 * an overlay could mark a directory as opaque (Linux 6.6); without them, or when the lower file
 * system is an overlay too deep already, the launcher fills the tmpfs with a copy instead.
 */
#include "launch/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/link.h"
#include "launch/mounts.h"

/* Attaches a detached tree at a fresh directory of the scratch. */
static int attach_at(int tree, int scratch, const char *name, struct error *err)
{
	if (mkdirat(scratch, name, 0755) < 0)
		return error_sys(err, "make '%s'", name);
	return mounts_attach(tree, scratch, name, err);
}

/* The root of an overlay has the attributes of its upper directory. */
static int make_upper(const struct plan *p, int tmpfs, int *ret_fd, struct error *err)
{
	const struct timespec times[2] = {p->copy->mtime, p->copy->mtime};
	autoclose int upper = -1;

	if (mkdirat(tmpfs, "upper", 0755) < 0 || mkdirat(tmpfs, "work", 0700) < 0)
		return error_sys(err, "make the written layer");
	upper = openat(tmpfs, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (upper < 0 || fchmod(upper, p->copy->mode) < 0 || futimens(upper, times) < 0)
		return error_sys(err, "make the written layer");
	*ret_fd = take_fd(upper);
	return 0;
}

/* -1 when this kernel cannot lay an overlay over this directory. */
static int try_overlay(int scratch, int upper, int *ret_tree, struct error *err)
{
	static const struct mounts_option options[] = {
		{"lowerdir", "lower"},
		{"upperdir", "up/upper"},
		{"workdir", "up/work"},
		{"userxattr", NULL},
	};

	if (fsetxattr(upper, "user.sandglass", "", 0, 0) < 0)
		return error_sys(err, "no user xattrs on tmpfs");
	if (fremovexattr(upper, "user.sandglass") < 0 || fchdir(scratch) < 0)
		return error_sys(err, "probe the written layer");
	return mounts_new("overlay", MOUNTS_WRITABLE, options, ARRAY_LEN(options), ret_tree, err);
}

static int fill_by_launcher(int upper, int link, struct error *err)
{
	enum link_kind kind;
	int fd = -1;

	if (link_send(link, LINK_COPY, upper, NULL, err) < 0 ||
		link_recv(link, &kind, &fd, err) < 0)
		return -1;
	fd_close(&fd);
	if (kind != LINK_GO)
		return error_set(err, ERR_DIED, "the launcher went away");
	return 0;
}

int layer_attach(const struct plan *p, int to, int link, struct error *err)
{
	const struct mounts_option options[] = {
		{"size", p->copy_size}, {"nr_inodes", p->copy_inodes}, {"mode", "0755"}};
	autoclose int scratch = -1, tmpfs = -1, upper = -1, own = -1, tree = -1;
	int lower = p->copy->tree;

	if (mounts_new("tmpfs", MOUNTS_WRITABLE, NULL, 0, &scratch, err) < 0 ||
		mounts_attach(scratch, to, "", err) < 0 ||
		mounts_new("tmpfs", MOUNTS_WRITABLE, options, ARRAY_LEN(options), &tmpfs, err) <
			0 ||
		attach_at(tmpfs, scratch, "up", err) < 0 || make_upper(p, tmpfs, &upper, err) < 0)
		return -1;
	if (p->copy->absent) {
		if (link_send(link, LINK_UPPER, upper, NULL, err) < 0 ||
			mounts_clone(upper, "", &tree, err) < 0 || mounts_detach(scratch, err) < 0)
			return -1;
		return mounts_attach(tree, to, "", err);
	}
	if (lower < 0) {
		if (mounts_clone(AT_FDCWD, p->copy->source, &own, err) < 0)
			return error_wrap(err, "copy");
		lower = own;
	}
	if (mounts_set_kind(lower, MOUNTS_READ_ONLY, err) < 0 ||
		attach_at(lower, scratch, "lower", err) < 0)
		return -1;
	if (p->copy->mapped && try_overlay(scratch, upper, &tree, err) == 0) {
		if (link_send(link, LINK_UPPER, upper, NULL, err) < 0)
			return -1;
	} else if (fill_by_launcher(upper, link, err) < 0 ||
		   mounts_clone(upper, "", &tree, err) < 0) {
		return -1;
	}
	/* Takes the two mounts in it along; the overlay holds on to what it needs of them. */
	if (mounts_detach(scratch, err) < 0)
		return -1;
	return mounts_attach(tree, to, "", err);
}
