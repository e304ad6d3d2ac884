/* SPDX-License-Identifier: Apache-2.0 */
/* A set of paths, to know what a layer has made itself. */
#ifndef IMAGE_PATHSET_H
#define IMAGE_PATHSET_H

#include <stdbool.h>
#include <stddef.h>

struct path_set {
	char **slots;
	size_t count, room;
};

void path_set_add(struct path_set *s, const char *path);
bool path_set_has(const struct path_set *s, const char *path);
void path_set_clear(struct path_set *s);

#endif
