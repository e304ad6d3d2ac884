/* SPDX-License-Identifier: Apache-2.0 */
/* Where a reader stands in its file, for a writer that goes on there. */
#ifndef TAPE_PLACE_H
#define TAPE_PLACE_H

#include "tape/tape.h"

struct tape_place {
	uint32_t version, sum;	   /* the header's */
	uint64_t offset;	   /* of the record that comes next */
	uint64_t ordinal, last_ns; /* of the one before it; 0: none */
};

struct tape_place tape_reader_place(const struct tape_reader *r);

#endif
