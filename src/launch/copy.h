/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded copy of a directory tree, for kernels that cannot lay an overlay over it. */
#ifndef LAUNCH_COPY_H
#define LAUNCH_COPY_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/idmap.h"

/*
 * Copies directories, regular files and symlinks of the directory `from` into the empty directory
 * `to`, owned by the ids of m, with modes (but setuid and setgid) and times. No symlink is
 * followed; other kinds of files and other file systems are left out. A file that the caller may
 * not read becomes an empty one that nobody may read. The file system of `to` bounds the size.
 */
MUST_CHECK int copy_tree(int from, int to, const struct idmap *m, struct error *err);

#endif
