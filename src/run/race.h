/* SPDX-License-Identifier: Apache-2.0 */
/* A name for what forced switches did to a program: one line a person can begin with. */
#ifndef RUN_RACE_H
#define RUN_RACE_H

#include "base/attr.h"
#include "base/error.h"
#include "run/attempt.h"

/* One forced switch, and what the two tasks do around it. Calls are numbers, -1: none. */
struct race_switch {
	struct contract_switch at;
	bool gave_way; /* it was the preempted task's own doing, and only who is next was forced */
	int before, after; /* the preempted task's calls around it */
	int other;	   /* the next task's first call after it */
};

/* What the decisions of a run say about its forced switches (caller frees). */
MUST_CHECK int race_switches(
	const struct attempt *a, struct race_switch **ret, size_t *ret_count, struct error *err);
/* "task 2 is stopped 14 instructions after futex, task 3 runs" (caller frees). */
char *race_switch_text(const struct race_switch *s);
/* "order violation: ..." (caller frees). *ret_kind is the part before the colon, static. */
char *race_name(const struct outcome *o, const struct race_switch *list, size_t count,
	const char **ret_kind);

#endif
