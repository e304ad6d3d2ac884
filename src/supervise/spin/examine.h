/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a running task does nothing but wait for memory to change, found out by single steps. */
#ifndef SUPERVISE_SPIN_EXAMINE_H
#define SUPERVISE_SPIN_EXAMINE_H

#include "supervise/spin/words.h"

enum spin_verdict {
	SPIN_COMPUTES, /* nothing recurs within the budget */
	SPIN_PURE,   /* it waits: it stands at the loop's canonical point, and `words` says for what
		      */
	SPIN_IMPURE, /* registers recur while memory moves, or while it does what we do not know */
	SPIN_LEFT,   /* something else stopped it, and was handled; it may even be gone */
};

/*
 * Words that may move in a loop that waits: an interpreter's counters. The JVM has three for an
 * empty loop, and two more for each method that it calls.
 */
enum { SPIN_WORDS_FEW = 16 };

struct spin_finding {
	uint64_t ip;	/* the loop's lowest instruction */
	uint64_t moved; /* impure: an address that moves, or 0 */
	/* impure: how many words moved, whether everything it does is known, what it may wait for,
	 * and what tells this loop with these values from another */
	unsigned moved_count;
	unsigned counters; /* impure: registers that move by the same amount each time round */
	bool is_known;
	enum words_awaited awaits;
	uint64_t key;
	uint64_t awaited; /* a word that it may wait for */
	unsigned period;
	struct words words; /* pure */
};

/*
 * t stands at a stop between two of its instructions. At most `budget` steps. ip: where a loop of
 * it is known to begin, which saves most of the search; 0: none is.
 */
enum spin_verdict spin_examine(
	struct task *t, unsigned budget, uint64_t ip, struct spin_finding *ret);

/*
 * The same for a loop in which nothing recurs: SPIN_IMPURE where it would, but for a register or
 * two that count its rounds, and it reads what another task could change. Of `ret`, `words` are not
 * kept.
 */
enum spin_verdict spin_examine_count(struct task *t, struct spin_finding *ret);

#endif
