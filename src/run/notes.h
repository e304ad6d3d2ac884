/* SPDX-License-Identifier: Apache-2.0 */
/* What a run could not enforce, by reason, and what it assumed. */
#ifndef RUN_NOTES_H
#define RUN_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "wire/reasons.h"

enum { NOTES_ASSUMPTIONS_MAX = 64 };

struct notes_assumption {
	enum reason reason;
	char *detail;
};

struct notes {
	struct {
		uint64_t count;
		char *first; /* detail of the first time; NULL when count is 0 */
	} not_enforced[REASON_COUNT];
	struct notes_assumption assumptions[NOTES_ASSUMPTIONS_MAX];
	size_t assumption_count;
};

void notes_finish(struct notes *n);
/* Counts it. A reason that is not fatal becomes an assumption. */
void notes_add(struct notes *n, enum reason r, const char *detail);
/* False when the same was there already or there are too many. */
bool notes_assume(struct notes *n, enum reason r, const char *detail);
/* True when nothing fatal was counted. */
bool notes_is_enforced(const struct notes *n);

#endif
