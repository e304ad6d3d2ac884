/* SPDX-License-Identifier: Apache-2.0 */
/* What a file call's enter handler keeps for its leave handler: the files it named, held open. */
#ifndef SUPERVISE_NOTE_H
#define SUPERVISE_NOTE_H

#include <stdbool.h>

#include "supervise/files/path.h"
#include "supervise/engine/task.h"

struct note {
	uint32_t task; /* ordinal; 0: free */
	uint64_t used;
	struct path file;   /* as it was before the call; fd -1: it was not there */
	struct path parent; /* of file */
	struct path other;  /* the second path's file, as it was before */
	struct path other_parent;
	uint64_t flags;		 /* of the open */
	bool fifo;		 /* O_NONBLOCK was added for the kernel's eyes */
	char served[PATH_MAX];	 /* the path whose content the new descriptor gets; or "" */
	char name[NAME_MAX + 1]; /* in parent: what the call makes */
};

/* An empty note of the task; what an earlier call left is dropped. */
struct note *note_new(struct task *t);
/* NULL when there is none. */
struct note *note_find(struct task *t);
void note_free(struct note *n);

#endif
