/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of an effect record, which only a journal has: docs/format/tape.md. */
#ifndef TAPE_EFFECT_H
#define TAPE_EFFECT_H

#include "tape/tape.h"

enum { TAPE_EFFECT_SIZE = 56 };

enum tape_effect_state {
	TAPE_EFFECT_PLANNED = 0, /* nothing of it has gone out */
	TAPE_EFFECT_BEGUN = 1,	 /* it may have */
	TAPE_EFFECT_DONE = 2,	 /* it has */
};

/* len bytes of a stream go out, behind the first `offset` ones. */
struct tape_effect {
	uint32_t stream; /* 1: standard output; 2: standard error */
	uint32_t state;
	uint64_t request; /* of the last question that was answered by then; 0: none */
	uint64_t offset;
	uint32_t len;
	uint32_t sum; /* CRC-32C of the stream up to offset + len */
	/* Where they go, when that is a regular file; else 0. */
	uint64_t device, inode, position;
};

void tape_effect_encode(unsigned char out[TAPE_EFFECT_SIZE], const struct tape_effect *e);
/* 0, or -1: the record is none, or not as one should be. */
MUST_CHECK int tape_effect_decode(const struct tape_record *record, struct tape_effect *ret);

#endif
