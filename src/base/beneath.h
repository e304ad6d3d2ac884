/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into a directory that a guest has filled: nothing in it can lead the reader astray. */
#ifndef BASE_BENEATH_H
#define BASE_BENEATH_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"

/*
 * openat2 below dir: no symlink, no "..", no mount of another kind of magic is followed, no
 * terminal is taken, no fifo is waited for. A descriptor, or -1 with errno.
 */
int beneath_open(int dir, const char *path, int flags, unsigned mode);
/* The regular file of this name, to be read; -1 with errno (ENXIO when it is something else). */
int beneath_open_file(int dir, const char *path, struct stat *ret_st);

/* The names in a directory, sorted by their bytes, without "." and "..". */
struct beneath_names {
	char **items;
	size_t count;
};

void beneath_names_finish(struct beneath_names *n);
#define auto_names CLEANUP(beneath_names_finish)
/* More than max is ERR_LIMIT. */
MUST_CHECK int beneath_list(int dir, size_t max, struct beneath_names *ret, struct error *err);

#endif
