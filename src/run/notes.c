/* SPDX-License-Identifier: Apache-2.0 */
/* What a run could not enforce: see notes.h. */
#include "run/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void notes_finish(struct notes *n)
{
	for (int r = 0; r < REASON_COUNT; r++)
		free(n->not_enforced[r].first);
	for (size_t i = 0; i < n->assumption_count; i++)
		free(n->assumptions[i].detail);
	*n = (struct notes){0};
}

bool notes_assume(struct notes *n, enum reason r, const char *detail)
{
	for (size_t i = 0; i < n->assumption_count; i++)
		if (n->assumptions[i].reason == r && strcmp(n->assumptions[i].detail, detail) == 0)
			return false;
	if (n->assumption_count == NOTES_ASSUMPTIONS_MAX)
		return false;
	n->assumptions[n->assumption_count++] = (struct notes_assumption){r, mem_strdup(detail)};
	return true;
}

void notes_add(struct notes *n, enum reason r, const char *detail)
{
	if (!reason_info(r)->fatal)
		notes_assume(n, r, detail);
	else if (n->not_enforced[r].count++ == 0)
		n->not_enforced[r].first = mem_strdup(detail);
}

bool notes_is_enforced(const struct notes *n)
{
	for (int r = 0; r < REASON_COUNT; r++)
		if (n->not_enforced[r].count > 0)
			return false;
	return true;
}
