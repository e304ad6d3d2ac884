/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File times on the logical clock.
 *
 * An input - a file that the guest has not changed - shows as its mtime min(real, epoch - 1 s), and
 * the same as atime, ctime and birth. Among those clamped the order is kept in the nanoseconds of
 * that second: three for each second of real time after it, so thirds of a second stay apart for
 * ten years. What the container's set-up made (its directories, devices, /proc, /sys) shows epoch -
 * 1 s.
 *
 * A file that the guest changed has a record. Calls that change names, modes, owners or times are
 * all seen, and note their instant. Writes are not: a regular file that was opened for writing is a
 * candidate, and whenever its physical mtime is not the one that the record has seen, it was
 * written since the clock last moved, so it shows "now". ftime_settle makes that instant its own:
 * it puts the logical time physically on the file, so that the next write is seen even within one
 * tick of the kernel's coarse clock.
 */
#ifndef SUPERVISE_FTIME_H
#define SUPERVISE_FTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"

/* Nanoseconds since 1970; the guest may set times before it. */
struct ftimes {
	int64_t mtime_ns, ctime_ns, atime_ns, btime_ns;
};

enum {
	FTIME_MTIME = 1, /* as if written now */
	FTIME_CTIME = 2,
	FTIME_CREATED = 4, /* it did not exist before; everything is now */
};

/* `setup_ns`: real time at which the container's set-up began to make files; later ones are not
 * inputs. */
void ftime_init(uint64_t epoch_ns, int64_t setup_ns);
/* What the guest shall see; stx needs STATX_BASIC_STATS and STATX_BTIME. `fixed`: not on a file
 * system that keeps files (proc, sysfs, pipes, sockets): epoch - 1 s. */
void ftime_show(const struct statx *stx, bool fixed, struct ftimes *ret);
/*
 * The guest changed this file just now. fd is any descriptor of it (O_PATH is enough), stx its
 * present state; `before`, when there is one, its state before the call.
 */
void ftime_changed(int fd, const struct statx *stx, const struct statx *before, int what);
/* The guest may write to it from now on, without our seeing it. `before` as in ftime_changed. */
void ftime_writable(int fd, const struct statx *stx, const struct statx *before);
/* The guest set the times itself; stx is the state after it. An omitted one is NULL. */
void ftime_set(int fd, const struct statx *stx, const struct statx *before, const int64_t *atime_ns,
	const int64_t *mtime_ns);
/* Its last name is gone: it is settled and not held any longer. */
void ftime_gone(const struct statx *stx);
/* The clock is about to leave this instant. */
void ftime_settle(void);

#endif
