/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room in a pipe that is known without a look.
 *
 * How it works: a blocking write into an empty pipe was let go on, and its size is known. As long
 * as the writer runs on - nobody else, so that the pipe is filled by it alone - and does nothing by
 * which the number may come to mean another pipe, what further writes leave of the room can be
 * counted as the kernel does: by pages, where a write is added to the last page if that has place
 * for its odd part (pipe_write in fs/pipe.c). A reader that went away does not matter: the kernel
 * says so itself.
 */
#ifndef SUPERVISE_ROOM_H
#define SUPERVISE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/io/fdkind.h"

/* The write of so many bytes through this number fits into what is known, and takes it. */
bool room_take(const struct task *t, int number, uint64_t len);
/* Looks at the pipe of a blocking write: true when that fits into an empty one. */
bool room_look(const struct task *t, const struct gfd *g, uint64_t len);
/* At each call that stops: forgets, unless it is known to change nothing. */
void room_at_call(const struct task *t, int nr);
/* Somebody else runs, or the number may be another pipe's now. */
void room_forget(void);

#endif
