/* SPDX-License-Identifier: Apache-2.0 */
/* The payloads of input and signal records: docs/format/tape.md. */
#ifndef TAPE_INPUT_H
#define TAPE_INPUT_H

#include "tape/tape.h"

enum {
	TAPE_INPUT_HEAD = 16, /* before the bytes */
	TAPE_INPUT_END = 1,   /* flag */
	TAPE_SIGNAL_SIZE = 12,
};

struct tape_input {
	uint32_t stream, flags;
	uint32_t signal; /* of a signal record, which has no bytes; else 0 */
	uint64_t request;
	const unsigned char *data; /* borrowed */
	size_t len;
};

void tape_input_encode(unsigned char out[TAPE_INPUT_HEAD], const struct tape_input *in);
void tape_signal_encode(unsigned char out[TAPE_SIGNAL_SIZE], const struct tape_input *in);
/* Of either kind: 0, or -1: the record is none, or not as one should be. */
MUST_CHECK int tape_input_decode(const struct tape_record *record, struct tape_input *ret);

#endif
