/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest is shown of a file: see view.h. */
#include "supervise/view.h"

#include <string.h>

#include "supervise/inode.h"
#include "supervise/served.h"

uint64_t view_ino(const struct path *p)
{
	char name[PATH_MAX];

	if ((p->kind == FS_PROC || p->kind == FS_SYS) && path_name(p->fd, name))
		return inode_of_path(name);
	return inode_get(&p->stx)->number;
}

/* A served file looks like the file of /proc that it stands for. */
static void view_served(const char *name, const struct statx *stx, struct view *v)
{
	v->ino = inode_of_path(name);
	v->size = v->blocks = 0;
	v->nlink = 1;
	v->mode = S_IFREG | 0444;
	/* The general files of /proc belong to root, those of a process to its user. */
	if (name[sizeof("/proc/") - 1] < '0' || name[sizeof("/proc/") - 1] > '9')
		v->uid = v->gid = 0;
	ftime_show(stx, true, &v->times);
}

void view_of(const struct path *p, struct view *ret)
{
	const struct statx *stx = &p->stx;
	const char *served = served_find(stx);

	*ret = (struct view){
		.size = stx->stx_size,
		.mode = stx->stx_mode,
		.nlink = stx->stx_nlink,
		.uid = view_owner(stx->stx_uid),
		.gid = view_owner(stx->stx_gid),
		.rdev_major = stx->stx_rdev_major,
		.rdev_minor = stx->stx_rdev_minor,
	};
	if (served != NULL) {
		view_served(served, stx, ret);
		return;
	}
	ret->ino = view_ino(p);
	ftime_show(stx, p->kind != FS_PLAIN, &ret->times);
	/* How large a directory is depends on its file system and its history. */
	if (S_ISDIR(stx->stx_mode) && p->kind == FS_PLAIN)
		ret->size = VIEW_BLOCK;
	/* The links of /proc itself count the processes of the whole host. */
	if (S_ISDIR(stx->stx_mode) && p->kind != FS_PLAIN)
		ret->nlink = 2;
	ret->blocks = (ret->size + 511) / 512;
}
