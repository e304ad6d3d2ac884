/* SPDX-License-Identifier: Apache-2.0 */
/* Notes from enter to leave: see note.h. One task runs at a time, so few are alive at once. */
#include "supervise/engine/note.h"

#include <stddef.h>

enum { NOTES = 16 };

static struct note notes[NOTES];
static uint64_t note_clock;

void note_free(struct note *n)
{
	if (n->task == 0)
		return;
	path_finish(&n->file);
	path_finish(&n->parent);
	path_finish(&n->other);
	path_finish(&n->other_parent);
	n->task = 0;
}

struct note *note_find(struct task *t)
{
	for (unsigned k = 0; k < NOTES; k++)
		if (notes[k].task == t->ordinal)
			return &notes[k];
	return NULL;
}

struct note *note_new(struct task *t)
{
	struct note *n = note_find(t);

	/* A task that was killed inside its call never came back for its note. */
	for (unsigned k = 0; n == NULL && k < NOTES; k++)
		if (notes[k].task == 0)
			n = &notes[k];
	if (n == NULL) {
		n = &notes[0];
		for (unsigned k = 1; k < NOTES; k++)
			if (notes[k].used < n->used)
				n = &notes[k];
	}
	note_free(n);
	n->task = t->ordinal;
	n->used = ++note_clock;
	n->file = n->parent = n->other = n->other_parent = PATH_NONE;
	n->flags = 0;
	n->fifo = false;
	n->served[0] = n->name[0] = '\0';
	return n;
}
