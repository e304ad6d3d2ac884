/* SPDX-License-Identifier: Apache-2.0 */
/* A set of paths: see pathset.h. Only membership is asked, so the order of the table never shows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "image/pathset.h"

/* FNV-1a. */
static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

static char **find(char **slots, size_t room, const char *path)
{
	size_t at = (size_t)hash(path) & (room - 1);

	while (slots[at] && strcmp(slots[at], path) != 0)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

void path_set_add(struct path_set *s, const char *path)
{
	char **slot;

	if (s->count * 2 >= s->room) {
		size_t room = s->room ? s->room * 2 : 1024;
		char **slots = mem_array(room, sizeof(*slots));

		for (size_t i = 0; i < s->room; i++)
			if (s->slots[i])
				*find(slots, room, s->slots[i]) = s->slots[i];
		free(s->slots);
		s->slots = slots;
		s->room = room;
	}
	slot = find(s->slots, s->room, path);
	if (!*slot) {
		*slot = mem_strdup(path);
		s->count++;
	}
}

bool path_set_has(const struct path_set *s, const char *path)
{
	return s->room && *find(s->slots, s->room, path);
}

void path_set_clear(struct path_set *s)
{
	for (size_t i = 0; i < s->room; i++)
		free(s->slots[i]);
	free(s->slots);
	*s = (struct path_set){0};
}
