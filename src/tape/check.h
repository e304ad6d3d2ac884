/* SPDX-License-Identifier: Apache-2.0 */
/* A tape read from end to end, and counted. */
#ifndef TAPE_CHECK_H
#define TAPE_CHECK_H

#include "tape/tape.h"

struct tape_check {
	uint64_t records, payload_bytes, first_ns, last_ns;
	uint64_t by_kind[256];
	char damage[160]; /* "": it is whole */
	uint64_t damage_at;
};

/* 0 also for a damaged one: *ret says what and where. */
MUST_CHECK int tape_check(struct tape_reader *r, struct tape_check *ret, struct error *err);

#endif
