/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One directory read whole: "." and "..", then the names in the order of their bytes, with virtual
 * inode numbers. The offset of entry i is i + 1, and the descriptor's own position holds it: we set
 * it through a duplicate, so lseek, telldir and seekdir work natively on it.
 */
#ifndef SUPERVISE_LISTING_H
#define SUPERVISE_LISTING_H

#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "supervise/engine/task.h"

struct listing;

/*
 * The listing that goes with the guest's descriptor `fd` (a duplicate: `own`) at its position:
 * read now at position 0, kept from the reads before otherwise. Borrowed until the next call. NULL
 * with errno as getdents64 would give it.
 */
struct listing *listing_get(struct task *t, int fd, int own, int64_t position);
uint32_t listing_count(const struct listing *l);
/* The guest will go on at this position. */
void listing_reached(struct listing *l, int64_t position);
/* Entry i as struct linux_dirent64 into `out` if it fits: its length, or 0. */
size_t listing_put(const struct listing *l, uint32_t i, unsigned char *out, size_t room);

#endif
