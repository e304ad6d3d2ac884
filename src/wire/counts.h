/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one run, sent once before EXIT; `counts` and `clock` of the report. */
#ifndef WIRE_COUNTS_H
#define WIRE_COUNTS_H

#include "base/bytes.h"

#include <stdint.h>

#define COUNTS_FIELDS(X) \
	X(clock_final_ns) /* CLOCK_REALTIME at the end */ \
	X(clock_advances) \
	X(clock_reads) \
	X(entropy_bytes) \
	X(timers_fired) \
	X(external_reads) \
	X(switches) \
	X(stops) \
	X(decisions) \
	X(tasks) \
	X(processes)

struct counts {
#define X(name) uint64_t name;
	COUNTS_FIELDS(X)
#undef X
};

/* All fields as u64 in the order above. */
void counts_encode(struct bytes *out, const struct counts *c);
void counts_decode(struct bytes_reader *r, struct counts *ret_c);

#endif
