/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual inode numbers: see inode.h. Open addressing, never more than two thirds full. */
#include "supervise/files/inode.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	INODE_ROOM_FIRST = 1024,
	GONE_KEPT = 4096,
};

/* Files without a name, the oldest at gone_next. */
static struct gone {
	uint64_t ino;
	uint32_t dev, number;
} gone[GONE_KEPT];
static unsigned gone_next;

static struct inode *inodes;
static uint32_t inode_room; /* a power of two */
static uint32_t inode_used;
static uint32_t inode_next = INODE_FIRST;
static bool (*inode_is_endless)(uint32_t dev);
static void (*inode_sweep)(void);
static uint32_t inode_endless; /* numbered since the last sweep */

void inode_sweep_by(bool (*is_endless)(uint32_t dev), void (*sweep)(void))
{
	inode_is_endless = is_endless;
	inode_sweep = sweep;
}

uint32_t inode_pack_dev(uint32_t major, uint32_t minor)
{
	return major << 20 | (minor & 0xfffff);
}

static uint64_t inode_birth(const struct statx *stx)
{
	if (!(stx->stx_mask & STATX_BTIME))
		return 0;
	return (uint64_t)stx->stx_btime.tv_sec * 1000000000u + stx->stx_btime.tv_nsec;
}

static uint32_t inode_slot(uint32_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ (uint64_t)dev << 40) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32) & (inode_room - 1);
}

/* Where the pair is, or the empty place where it belongs. */
static struct inode *inode_place(uint32_t dev, uint64_t ino)
{
	uint32_t i = inode_slot(dev, ino);

	while (inodes[i].number != 0 && (inodes[i].ino != ino || inodes[i].dev != dev))
		i = (i + 1) & (inode_room - 1);
	return &inodes[i];
}

static void inode_grow(void)
{
	struct inode *old = inodes;
	uint32_t old_room = inode_room;

	inode_room = old_room == 0 ? INODE_ROOM_FIRST : old_room * 2;
	inodes = mem_array(inode_room, sizeof(*inodes));
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i].number != 0)
			*inode_place(old[i].dev, old[i].ino) = old[i];
	free(old);
}

static struct inode *inode_room_for(uint32_t dev, uint64_t ino)
{
	if (inode_used + inode_used / 2 >= inode_room)
		inode_grow();
	return inode_place(dev, ino);
}

/* Before a file of this device gets a number. */
static void inode_make_room(uint32_t dev)
{
	if (inode_sweep == NULL || !inode_is_endless(dev) || ++inode_endless < INODE_SWEEP)
		return;
	inode_endless = 0;
	inode_sweep();
}

static void inode_number(struct inode *i, uint32_t dev, uint64_t ino, uint64_t birth)
{
	if (i->number == 0)
		inode_used++;
	*i = (struct inode){.ino = ino,
		.birth_ns = birth,
		.dev = dev,
		.number = inode_next++,
		.times = i->times}; /* a record of another number is free for this one */
}

struct inode *inode_get(const struct statx *stx)
{
	uint32_t dev = inode_pack_dev(stx->stx_dev_major, stx->stx_dev_minor);
	uint64_t birth = inode_birth(stx);
	struct inode *i = inode_room_for(dev, stx->stx_ino);

	if (i->number == 0) {
		inode_make_room(dev);
		i = inode_place(dev, stx->stx_ino);
	}
	if (i->number != 0 && i->birth_ns == 0)
		i->birth_ns = birth; /* seen by its pair alone before */
	if (i->number == 0 || (birth != 0 && i->birth_ns != birth))
		inode_number(i, dev, stx->stx_ino, birth);
	return i;
}

struct inode *inode_get_pair(uint32_t major, uint32_t minor, uint64_t ino)
{
	uint32_t dev = inode_pack_dev(major, minor);
	struct inode *i = inode_room_for(dev, ino);

	if (i->number == 0) {
		inode_make_room(dev);
		i = inode_place(dev, ino);
		inode_number(i, dev, ino, 0);
	}
	return i;
}

struct inode *inode_find(const struct statx *stx)
{
	uint32_t dev = inode_pack_dev(stx->stx_dev_major, stx->stx_dev_minor);
	struct inode *i = NULL;

	if (inode_room == 0)
		return NULL;
	i = inode_place(dev, stx->stx_ino);
	if (i->number == 0 || (i->birth_ns != 0 && i->birth_ns != inode_birth(stx)))
		return NULL;
	return i;
}

struct inode *inode_create(const struct statx *stx)
{
	uint32_t dev = inode_pack_dev(stx->stx_dev_major, stx->stx_dev_minor);
	struct inode *i = inode_room_for(dev, stx->stx_ino);

	inode_number(i, dev, stx->stx_ino, inode_birth(stx));
	return i;
}

void inode_moved(const struct statx *before, const struct statx *after)
{
	struct inode was = *inode_get(before);
	uint32_t dev = inode_pack_dev(after->stx_dev_major, after->stx_dev_minor);
	struct inode *now = inode_room_for(dev, after->stx_ino);

	if (now->number == 0)
		inode_used++;
	was.dev = dev;
	was.ino = after->stx_ino;
	was.birth_ns = inode_birth(after);
	*now = was;
}

/* Takes the entry out and closes the gap: whoever was pushed on by it moves back. */
static void inode_remove(struct inode *i)
{
	uint32_t hole = (uint32_t)(i - inodes), at = hole;

	for (;;) {
		at = (at + 1) & (inode_room - 1);
		if (inodes[at].number == 0)
			break;
		uint32_t home = inode_slot(inodes[at].dev, inodes[at].ino);
		/* It may stay when its home lies between the hole and itself. */
		if (((at - home) & (inode_room - 1)) < ((at - hole) & (inode_room - 1)))
			continue;
		inodes[hole] = inodes[at];
		hole = at;
	}
	inodes[hole] = (struct inode){0};
	inode_used--;
}

void inode_forget(bool (*is_gone)(uint32_t dev, uint64_t ino))
{
	/* The gap that one leaves may be filled by the next, which is looked at again. */
	for (uint32_t at = 0; at < inode_room;) {
		struct inode *i = &inodes[at];

		if (i->number != 0 && i->times == 0 && is_gone(i->dev, i->ino))
			inode_remove(i);
		else
			at++;
	}
}

uint32_t inode_gone(const struct statx *stx)
{
	const struct inode *now = inode_find(stx);
	struct gone *slot = &gone[gone_next++ % GONE_KEPT];
	struct gone oldest = *slot;
	struct inode *i = NULL;
	uint32_t times = 0;

	*slot = (struct gone){0};
	if (now != NULL)
		*slot = (struct gone){now->ino, now->dev, now->number};
	if (oldest.number == 0)
		return 0;
	i = inode_place(oldest.dev, oldest.ino);
	if (i->number != oldest.number)
		return 0; /* another file is there by now */
	times = i->times;
	inode_remove(i);
	return times;
}

uint64_t inode_of_path(const char *path)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *path != '\0'; path++)
		h = (h ^ (unsigned char)*path) * 0x100000001b3u;
	return 0x100000000u + (h >> 16) % 0x7fffffffu;
}
