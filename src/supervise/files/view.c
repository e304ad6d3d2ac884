/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest is shown of a file: see view.h. */
#include "supervise/files/view.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "supervise/files/inode.h"
#include "supervise/main.h"
#include "supervise/proc/served.h"

uint64_t view_ino(const struct path *p)
{
	char name[PATH_MAX];

	if ((p->kind == FS_PROC || p->kind == FS_SYS) && path_name(p->fd, name))
		return inode_of_path(name);
	return inode_get(&p->stx)->number;
}

/*
 * What the set-up of an image's container made, or laid something over: natively that is the
 * guest's, in a runtime's container root's.
 */
static bool is_set_up(const struct statx *stx)
{
	/* From the third on all that lies on their mount, if it is one. */
	enum { ROOT, ETC, WHOLE };
	static const char *const places[] = {
		"/", "/etc", "/dev", "/sys", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"};
	static struct statx there[ARRAY_LEN(places)];

	if (contract_get()->rootfs == NULL || S_ISCHR(stx->stx_mode))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct statx *at = &there[i];

		if (at->stx_mask == 0 && statx(AT_FDCWD, places[i], AT_SYMLINK_NOFOLLOW,
						 STATX_BASIC_STATS | STATX_MNT_ID, at) != 0)
			continue;
		if (stx->stx_mnt_id != at->stx_mnt_id)
			continue;
		if (i < WHOLE ? stx->stx_ino == at->stx_ino
			      : at->stx_mnt_id != there[ROOT].stx_mnt_id)
			return true;
	}
	return false;
}

void view_of(const struct path *p, struct view *ret)
{
	const struct served *served = served_find(&p->stx);
	/* A served file looks like the file of /proc that it stands for. */
	const struct statx *stx = served != NULL ? &served->native : &p->stx;
	enum fs_kind kind = served != NULL ? FS_PROC : p->kind;

	*ret = (struct view){
		.ino = served != NULL ? inode_of_path(served->path) : view_ino(p),
		.size = stx->stx_size,
		.mode = stx->stx_mode,
		.nlink = stx->stx_nlink,
		.uid = view_owner(stx->stx_uid),
		.gid = view_owner(stx->stx_gid),
		.rdev_major = stx->stx_rdev_major,
		.rdev_minor = stx->stx_rdev_minor,
	};
	ftime_show(stx, kind != FS_PLAIN, &ret->times);
	if (kind == FS_PLAIN && is_set_up(stx))
		ret->uid = ret->gid = 0;
	/* How large a directory is depends on its file system and its history. */
	if (S_ISDIR(stx->stx_mode) && kind == FS_PLAIN)
		ret->size = VIEW_BLOCK;
	/* An image's directories lie on whatever a runtime keeps it on: many file systems do not
	 * count the directories in a directory, and say 1. */
	if (S_ISDIR(stx->stx_mode) && kind == FS_PLAIN && contract_get()->rootfs != NULL)
		ret->nlink = 1;
	/* The links of /proc itself count the processes of the whole host. */
	if (S_ISDIR(stx->stx_mode) &&
		(kind == FS_SYS || (kind == FS_PROC && ret->ino == inode_of_path("/proc"))))
		ret->nlink = 2;
	ret->blocks = (ret->size + 511) / 512;
}
