/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual inode numbers: counted from 1000 in the order in which the guest first sees a file, so
 * that they depend on what the guest did alone. A file is known by (device, inode); another birth
 * time behind the same pair is another file, and a file that the guest creates gets a new number
 * even if the kernel gave it the pair and the tick of one that is gone.
 */
#ifndef SUPERVISE_INODE_H
#define SUPERVISE_INODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"

enum { INODE_FIRST = 1000 };

/* One known file. A pointer to it is good until the next inode_get or inode_create. */
struct inode {
	uint64_t ino;
	uint64_t birth_ns;
	uint32_t dev; /* inode_pack_dev */
	uint32_t number;
	uint32_t times; /* ftime.c's: 1 + place of what it knows; 0: an untouched input */
};

/* major << 20 | minor, as the kernel packs it */
uint32_t inode_pack_dev(uint32_t major, uint32_t minor);
/*
 * Of these devices numbers are given without end: each time that many new ones have come, `sweep`
 * runs, which calls inode_forget.
 */
enum { INODE_SWEEP = 4096 };
void inode_sweep_by(bool (*is_endless)(uint32_t dev), void (*sweep)(void));
/* Gives up the files that are gone and of whose times nothing is known. */
void inode_forget(bool (*is_gone)(uint32_t dev, uint64_t ino));

/* The file behind a statx answer (STATX_INO and STATX_BTIME asked for), numbered at first sight. */
struct inode *inode_get(const struct statx *stx);
/* The same for a pair that the kernel names in a text (/proc/PID/maps). */
struct inode *inode_get_pair(uint32_t major, uint32_t minor, uint64_t ino);
/* NULL when it was never seen. */
struct inode *inode_find(const struct statx *stx);
/* The guest just created this file: a fresh number, nothing known of its times. */
struct inode *inode_create(const struct statx *stx);
/* It is the file that `before` described although its birth differs: a copy was made on writing. */
void inode_moved(const struct statx *before, const struct statx *after);
/*
 * Its last name is gone. It may still be open, so its number is kept for a while: until so many
 * more are gone, for a guest that makes files without end must not fill our memory. Returns the
 * `times` of the file that is forgotten now; 0: nothing of ftime.c's is to be freed.
 */
uint32_t inode_gone(const struct statx *stx);
/* A number outside the counted ones for a file of /proc or /sys, from its path alone. */
uint64_t inode_of_path(const char *path);

#endif
