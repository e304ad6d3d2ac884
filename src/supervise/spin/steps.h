/* SPDX-License-Identifier: Apache-2.0 */
/* A task taken through its instructions one by one, with the memory that they touch. */
#ifndef SUPERVISE_SPIN_STEPS_H
#define SUPERVISE_SPIN_STEPS_H

#include "supervise/spin/words.h"

struct stepper {
	struct task *t;
	unsigned budget;  /* of steps */
	struct regs regs; /* of now, clean */
	/* Of the walks: every instruction was decoded and every access kept; there were calls. */
	bool knows_all, has_calls;
	bool left; /* another stop came and was handled: t may be gone */
};

/* The registers of where it stands. */
bool stepper_read(struct stepper *v);
/* One instruction. False: the examination is over. */
bool stepper_step(struct stepper *v);
/*
 * `length` instructions with their accesses noted; *ret_least is the canonical point among them,
 * the state with the lowest instruction address (of several with that, the least by its bytes), and
 * *ret_times how often that comes. False: over.
 */
bool stepper_walk(struct stepper *v, unsigned length, struct words *words, struct regs *ret_least,
	unsigned *ret_times);
/* The vector unit's registers are those that arch_vectors_read put into `before`. */
bool stepper_same_vectors(struct stepper *v, const unsigned char *before, ssize_t len);
bool steps_are_same(const struct regs *a, const struct regs *b);

#endif
