/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of nearly one contract, some of them side by side, each in a process of its own: which
 * is the first whose outcome is looked for?
 */
#ifndef RUN_ATTEMPT_H
#define RUN_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/decisions.h"
#include "run/one.h"

enum { ATTEMPT_JOBS_MAX = 64, ATTEMPT_TEXT = 4096 };

/* How one run ended: plain data, which its process hands over whole. */
struct outcome {
	bool is_whole; /* the process got so far */
	enum one_end end;
	int code, signal;
	bool is_enforced;
	char out[DIGEST_TEXT], err[DIGEST_TEXT], tree[DIGEST_TEXT];
	char deadlock[ATTEMPT_TEXT]; /* of ONE_DEADLOCK */
	char not_enforced[512];	     /* the first reason's words */
	struct error failed;	     /* of ONE_FAILED and ONE_DIED, or of what made it fail */
};

/* One run, with what it left: attempt_finish. */
struct attempt {
	struct outcome outcome;
	int out, err;		    /* copies of its streams; owned */
	struct decisions decisions; /* kept */
};

#define ATTEMPT_NONE ((struct attempt){.out = -1, .err = -1, .decisions = {.keep = -1}})
void attempt_finish(struct attempt *a);
#define auto_attempt CLEANUP(attempt_finish)

/* Changes the contract of run i; what it points to stays the caller's. */
typedef void attempt_vary(const void *arg, size_t i, struct contract *c);
typedef bool attempt_judge(const void *arg, const struct outcome *o);
/* So many runs have ended. */
typedef void attempt_told(const void *arg, size_t done);

struct attempts {
	const struct one_spec *spec; /* of all: contract, supervisor, input, time-out, signals */
	unsigned jobs;		     /* 1 to ATTEMPT_JOBS_MAX side by side */
	const void *arg;
	attempt_vary *vary;
	attempt_judge *judge;
	attempt_told *told;
};

/*
 * Makes runs 0 to count - 1 until judge accepts one: 1, its number and what it left, which is the
 * lowest whatever the jobs; 0 when none is accepted. -1 when a run could not be made, or when the
 * caller was signalled.
 */
MUST_CHECK int attempts_find(const struct attempts *s, size_t count, size_t *ret_which,
	struct attempt *ret, struct error *err);

#endif
