/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a loop touches, as aligned words of 8 bytes with a mask of the bytes that count.
 */
#ifndef SUPERVISE_SPIN_WORDS_H
#define SUPERVISE_SPIN_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"

enum { WORDS_MAX = 1024 };

struct word {
	uint64_t addr; /* a multiple of 8 */
	unsigned char value[8];
	uint8_t used, loaded, stored; /* bit n: byte n is touched, is read, is written */
};

struct words {
	unsigned count;
	struct word word[WORDS_MAX];
};

/* t is about to touch these bytes: a word that is new is read now. False: too many, or not mapped.
 */
bool words_add(struct words *w, struct task *t, const struct arch_access *access);
/* How many words have stored bytes that are not what they were; *ret_addr: the lowest.
 * UINT_MAX: the count of clock reads is among them. */
unsigned words_moved(const struct words *w, struct task *t, uint64_t *ret_addr);
/*
 * A word that the loop reads and that kept its value, so that somebody else may be waited for to
 * change it: how far from the task's own stack. *ret_addr: the first of the furthest kind;
 * *ret_key: equal where the same words, of those that it does not write, have the same values,
 * wherever in its round the loop stands.
 */
enum words_awaited {
	WORDS_NONE,  /* it reads nothing but what it changes itself */
	WORDS_STACK, /* on its own stack alone: most likely its own variables */
	WORDS_ELSEWHERE,
};
enum words_awaited words_awaited(
	const struct words *w, struct task *t, uint64_t sp, uint64_t *ret_addr, uint64_t *ret_key);
/* Takes the values of now. False: one cannot be read. */
bool words_refresh(struct words *w, struct task *t);
/*
 * Every byte is what it was, and what the loop writes can still be written. False also when it
 * cannot be told.
 */
bool words_are_same(const struct words *w, struct task *t);

#endif
