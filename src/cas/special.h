/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what an image only tells of: a line "PATH\tKIND\n" for each socket, fifo and device,
 * sorted by path; in paths a backslash, tab and newline are \\, \t and \n.
 */
#ifndef CAS_SPECIAL_H
#define CAS_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

struct special {
	char **lines; /* escaped path, tab, kind; sorted by special_sort */
	size_t count, room, bytes;
};

void special_finish(struct special *s);
#define auto_special CLEANUP(special_finish)

MUST_CHECK int special_add(struct special *s, const char *path, mode_t mode, struct error *err);
/* The lines of a list, ERR_FORMAT unless it is one; those whose path is still absent in the tree
 * are added. dir -1: all. */
MUST_CHECK int special_merge(struct special *s, const char *list, int dir, struct error *err);
/* The list as text (caller frees), NULL when it is empty. */
char *special_text(struct special *s);

#endif
