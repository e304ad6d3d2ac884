/* SPDX-License-Identifier: Apache-2.0 */
/* The reason codes of reasons.def as an enum and a table. */
#ifndef WIRE_REASONS_H
#define WIRE_REASONS_H

#include <stdbool.h>

enum reason {
#define X(name, code, fatal, why, remedy, example) REASON_##name,
#include "wire/reasons.def"
#undef X
	REASON_COUNT
};

struct reason_info {
	const char *code;
	bool fatal; /* true: the run is not enforced (121); false: told, not counted against it */
	const char *why, *remedy, *example;
};

/* Never NULL for a value below REASON_COUNT. */
const struct reason_info *reason_info(enum reason r);
/* 1 and *ret_reason when a reason has this code, else 0. */
int reason_find(const char *code, enum reason *ret_reason);

#endif
