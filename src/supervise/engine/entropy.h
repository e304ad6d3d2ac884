/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest randomness: ChaCha20 keyed from the workflow id, nonce = process ordinal, block counter =
 * draw ordinal << 32. So one process's draws never move another's. Vectors: docs/format/contract.
 */
#ifndef SUPERVISE_ENTROPY_H
#define SUPERVISE_ENTROPY_H

#include <stddef.h>

#include "supervise/engine/task.h"

void entropy_init(const unsigned char key[32]);
/* The next draw of t's process. */
void entropy_draw(struct task *t, void *ret_data, size_t len);
/* The same in pieces, in order, for a draw too large to be held whole: all but the last are
 * multiples of 64 bytes. */
uint64_t entropy_begin(struct task *t, size_t len);
void entropy_piece(struct task *t, uint64_t draw, size_t offset, void *ret_data, size_t len);
/* A fixed value of the run (boot_id, machine-id): draw `which` of process ordinal 0. */
void entropy_fixed(uint64_t which, void *ret_data, size_t len);
/* 36 characters and a NUL: a version 4 UUID of 16 random bytes. */
void entropy_uuid(const unsigned char bytes[16], char ret_text[37]);

#endif
