/* SPDX-License-Identifier: Apache-2.0 */
/* The reason codes of reasons.def as a table. */
#include "wire/reasons.h"

#include <string.h>

static const struct reason_info infos[] = {
#define X(name, code, fatal, why, remedy, example) {code, fatal, why, remedy, example},
#include "wire/reasons.def"
#undef X
};
_Static_assert(sizeof(infos) / sizeof(infos[0]) == REASON_COUNT, "one row a reason");

const struct reason_info *reason_info(enum reason r)
{
	return &infos[r];
}

int reason_find(const char *code, enum reason *ret_reason)
{
	for (int i = 0; i < REASON_COUNT; i++)
		if (strcmp(infos[i].code, code) == 0) {
			*ret_reason = (enum reason)i;
			return 1;
		}
	return 0;
}
