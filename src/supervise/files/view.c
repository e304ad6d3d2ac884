/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest is shown of a file: see view.h. */
#include "supervise/files/view.h"

#include <string.h>

#include "supervise/files/inode.h"
#include "supervise/proc/served.h"

uint64_t view_ino(const struct path *p)
{
	char name[PATH_MAX];

	if ((p->kind == FS_PROC || p->kind == FS_SYS) && path_name(p->fd, name))
		return inode_of_path(name);
	return inode_get(&p->stx)->number;
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
	/* How large a directory is depends on its file system and its history. */
	if (S_ISDIR(stx->stx_mode) && kind == FS_PLAIN)
		ret->size = VIEW_BLOCK;
	/* The links of /proc itself count the processes of the whole host. */
	if (S_ISDIR(stx->stx_mode) &&
		(kind == FS_SYS || (kind == FS_PROC && ret->ino == inode_of_path("/proc"))))
		ret->nlink = 2;
	ret->blocks = (ret->size + 511) / 512;
}
