/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a guest executed code of besides its program: shared libraries, for the evidence. */
#ifndef SUPERVISE_MAPPED_H
#define SUPERVISE_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include "supervise/engine/task.h"

/* Somebody wants to know: without this nothing is looked at. */
void mapped_start(void);
/* t's address space is about to go (exit, exec): tells the host the files mapped executable there
 * that were not told before. One that is killed before that is missed. */
void mapped_tell(struct task *t);

/* Where code at an address comes from: "/lib/libc.so.6+0x1234", or the bare address. */
void mapped_place(struct task *t, uint64_t addr, char *ret_text, size_t size);

#endif
