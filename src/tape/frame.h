/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a tape, for its reader and its writer: docs/format/tape.md. */
#ifndef TAPE_FRAME_H
#define TAPE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "tape/tape.h"

enum {
	TAPE_MAGIC_SIZE = 8,
	TAPE_START = 24,   /* before the header's text */
	TAPE_FRAME = 32,   /* before a payload */
	TAPE_TRAILER = 16, /* behind the END record */
	TAPE_INDEX_MAX = 4096,
	TAPE_END_FIXED = 20, /* of the END record's payload, before the offsets */
};

extern const char tape_magic[TAPE_MAGIC_SIZE], tape_end_magic[TAPE_MAGIC_SIZE];

/* The first bytes of a file of this version for this text; returns the text's checksum, that of
 * every record goes on from. */
uint32_t tape_start_encode(
	unsigned char out[TAPE_START], uint32_t version, const char *text, size_t len);

/* The fixed part of a record. */
struct tape_frame {
	uint32_t len;
	uint16_t kind, flags; /* flags: 0 in this version */
	uint64_t ordinal, now_ns;
	uint32_t task, checksum;
};

/* Everything but the checksum, which is over these bytes and then the payload. */
void tape_frame_encode(unsigned char out[TAPE_FRAME], const struct tape_frame *f);
void tape_frame_decode(const unsigned char in[TAPE_FRAME], struct tape_frame *ret);
/* Where the checksum stands in it. */
enum { TAPE_FRAME_SUMMED = 28 };

#endif
