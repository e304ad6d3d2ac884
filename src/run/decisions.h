/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of decisions of a run: hashed, kept for a second run, or compared with a first one as
 * it comes. Kept without a name on disk and bounded; past the bound only the hash tells.
 */
#ifndef RUN_DECISIONS_H
#define RUN_DECISIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "crypto/digest.h"
#include "wire/decision.h"

#define DECISIONS_KEEP_MAX (512ull * 1024 * 1024)

/* Where two streams part. A side that has ended there has no record. */
struct decisions_difference {
	uint64_t ordinal; /* from 1 */
	bool has_first, has_second;
	struct decision first, second;
};

struct decisions {
	struct digest *digest;
	uint64_t count;
	int keep; /* descriptor of the kept records, owned, or -1 */
	uint64_t kept;
	const struct decisions *reference; /* borrowed; NULL in a first run */
	bool differs;
	struct decisions_difference difference;
};

void decisions_init(struct decisions *d);
void decisions_finish(struct decisions *d);
#define auto_decisions CLEANUP(decisions_finish)

/* Keeps the records from now on. */
MUST_CHECK int decisions_keep(struct decisions *d, struct error *err);
/* Whole records; a rest that is none is ERR_FORMAT. */
MUST_CHECK int decisions_add(struct decisions *d, struct bytes_reader *r, struct error *err);
/*
 * After the second run: 1 when the streams differ, 0 when not. *ret is filled when the place is
 * known; a difference past what was kept has ordinal 0.
 */
MUST_CHECK int decisions_compare(
	const struct decisions *second, struct decisions_difference *ret, struct error *err);

#endif
