/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree beside another one, as freezing and thawing would make it, without an image in between:
 * snapshot_copy of snapshot.h.
 *
 * How it works. Where the file system shares blocks between files (FICLONE: btrfs, XFS, bcachefs)
 * nothing is read; the first refusal ends the attempts. Else holes stay holes, and small files are
 * read and written, since each further call costs as much as the bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cas/plant.h"
#include "cas/snapshot.h"
#include "cas/special.h"
#include "cas/walk.h"
#include "cas/xattrs.h"

enum { CHUNK = 256 * 1024, SECTOR = 512 };

struct copier {
	const struct snapshot_policy *policy;
	int from;
	struct plant plant;
	struct special special;
	unsigned char *data; /* CHUNK bytes */
	bool may_clone, has_cloned;
};

static void copier_finish(struct copier *c)
{
	plant_finish(&c->plant);
	special_finish(&c->special);
	free(c->data);
}

static int copy_part(struct copier *c, const struct walk_entry *e, int from, int to, off_t at,
	off_t end, struct error *err)
{
	while (at < end) {
		size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = pread(from, c->data, want, at), done = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return walk_fail("read", e, err);
		if (n == 0)
			return walk_changed(e, err);
		while (done < n) {
			ssize_t m = pwrite(to, c->data + done, (size_t)(n - done), at + done);

			if (m < 0 && errno != EINTR)
				return walk_fail("write", e, err);
			done += m > 0 ? m : 0;
		}
		at += n;
	}
	return 0;
}

static int copy_sparse(struct copier *c, const struct walk_entry *e, int from, int to, off_t size,
	struct error *err)
{
	off_t at = 0, end;

	while (at < size) {
		at = lseek(from, at, SEEK_DATA);
		end = at < 0 ? -1 : lseek(from, at, SEEK_HOLE);
		if (at < 0 && errno == ENXIO)
			break;
		if (end < 0)
			return walk_fail("read", e, err);
		end = end < size ? end : size;
		if (copy_part(c, e, from, to, at, end, err) < 0)
			return -1;
		at = end;
	}
	return ftruncate(to, size) < 0 ? walk_fail("write", e, err) : 0;
}

static int copy_data(struct copier *c, const struct walk_entry *e, int from, int to,
	const struct stat *st, struct error *err)
{
	if (st->st_size == 0)
		return 0;
	if (c->may_clone && ioctl(to, FICLONE, from) == 0) {
		c->has_cloned = true;
		return 0;
	}
	c->may_clone = false;
	if ((off_t)st->st_blocks * SECTOR < st->st_size)
		return copy_sparse(c, e, from, to, st->st_size, err);
	return copy_part(c, e, from, to, 0, st->st_size, err);
}

static int copy_file(struct copier *c, const struct walk_entry *e, struct error *err)
{
	autoclose int from =
		openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	autoclose int to = -1;
	auto_xattrs struct xattrs x = {0};
	struct stat st, after;

	if (from < 0 || fstat(from, &st) < 0)
		return walk_fail("open", e, err);
	if (!S_ISREG(st.st_mode))
		return walk_changed(e, err);
	if (xattrs_read(from, &x) < 0)
		return walk_fail("read the attributes of", e, err);
	if (plant_file(&c->plant, e->path, &to, err) < 0 ||
		copy_data(c, e, from, to, &st, err) < 0 ||
		plant_xattrs(to, x.list, x.count, e->path, err) < 0)
		return -1;
	if (fstat(from, &after) < 0 || after.st_size != st.st_size ||
		memcmp(&after.st_mtim, &st.st_mtim, sizeof(st.st_mtim)) != 0)
		return walk_changed(e, err);
	/* A build looks at which file is the newer one. */
	if (futimens(to, (const struct timespec[]){st.st_mtim, st.st_mtim}) < 0)
		return walk_fail("set the time of", e, err);
	return plant_mode(to, st.st_mode & 07777, e->path, err);
}

static int copy_directory(struct copier *c, const struct walk_entry *e, struct error *err)
{
	autoclose int fd = beneath_open(e->dir, e->name, O_RDONLY | O_DIRECTORY, 0);
	auto_xattrs struct xattrs x = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return walk_fail("open", e, err);
	if (xattrs_read(fd, &x) < 0)
		return walk_fail("read the attributes of", e, err);
	return plant_directory(&c->plant, e->path, st.st_mode & 07777, x.list, x.count, err);
}

static int copy_link(struct copier *c, const struct walk_entry *e, struct error *err)
{
	char target[4097];
	ssize_t len = readlinkat(e->dir, e->name, target, sizeof(target) - 1);

	if (len < 0 && errno == EINVAL)
		return walk_changed(e, err);
	if (len < 0)
		return walk_fail("read the link", e, err);
	target[len] = '\0';
	return plant_link(&c->plant, e->path, target, err);
}

static int copy_entry(void *context, const struct walk_entry *e, struct error *err)
{
	struct copier *c = context;

	if (fault_point("snapshot: copy an entry") < 0)
		return error_sys(err, "make a file");
	switch (e->type) {
	case S_IFREG:
		return copy_file(c, e, err);
	case S_IFDIR:
		return copy_directory(c, e, err);
	case S_IFLNK:
		return copy_link(c, e, err);
	default:
		return special_add(&c->special, e->path, e->type, err);
	}
}

int snapshot_copy(int from, const struct snapshot_policy *policy, int to, bool *ret_shared,
	char **ret_special, struct error *err)
{
	struct copier CLEANUP(copier_finish)
		c = {.policy = policy, .from = from, .may_clone = true};

	plant_init(&c.plant, to);
	c.data = mem_alloc(CHUNK);
	if (walk_tree(from, policy->git, copy_entry, &c, err) < 0 ||
		plant_done(&c.plant, err) < 0 ||
		(policy->special && special_merge(&c.special, policy->special, from, err) < 0))
		return -1;
	*ret_shared = c.has_cloned;
	*ret_special = special_text(&c.special);
	return 0;
}
