/* SPDX-License-Identifier: Apache-2.0 */
/* A file that the user named for a result: whole under its name, or not at all. */
#ifndef RUN_PLACE_H
#define RUN_PLACE_H

#include "base/attr.h"
#include "base/error.h"

/* Writes everything to fd. */
typedef int place_fill(int fd, const void *arg, struct error *err);

/*
 * Makes a new file that takes the name when fill is done; links are followed, an old file is
 * replaced. A device or a pipe is written to as it is: a rename would put a file in its place.
 */
MUST_CHECK int place_write(const char *path, place_fill *fill, const void *arg, struct error *err);

#endif
