/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text: joining, tidying, asking whether one lies below another. Touches no file. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

/* base + "/" + rest, or rest alone when it is absolute; tidied. Caller frees. */
char *path_join(const char *base, const char *rest);
/* Without empty, "." and ".." parts ("/.." is "/"); symlinks are not looked at. Caller frees. */
char *path_tidy(const char *path);
/* True when path is dir or lies under it; both tidy and absolute. */
bool path_is_in(const char *path, const char *dir);
/* The directory of a tidy absolute path ("/" for "/"). Caller frees. */
char *path_dirname(const char *path);
/* What follows the last slash. Borrowed. */
const char *path_basename(const char *path);

#endif
