/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest is shown of a file: the answer of the stat family, before it takes a call's form.
 */
#ifndef SUPERVISE_VIEW_H
#define SUPERVISE_VIEW_H

#include <stdint.h>

#include "supervise/files/ftime.h"
#include "supervise/files/path.h"

enum {
	VIEW_DEVICE = 1,       /* st_dev of everything */
	VIEW_BLOCK = 4096,     /* st_blksize */
	VIEW_UNMAPPED = 65534, /* an owner outside the user namespace; shown as root */
};

struct view {
	uint64_t ino, size, blocks;
	uint32_t mode, nlink, uid, gid;
	uint32_t rdev_major, rdev_minor;
	struct ftimes times;
};

/* Of a file that was found. */
void view_of(const struct path *p, struct view *ret);
/* The inode number alone: the same as view_of gives. */
uint64_t view_ino(const struct path *p);
/* The owner as the guest sees it. */
static inline uint32_t view_owner(uint32_t id)
{
	return id == VIEW_UNMAPPED ? 0 : id;
}

#endif
