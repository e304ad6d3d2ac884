/* SPDX-License-Identifier: Apache-2.0 */
/* The payloads of records of connections: docs/format/tape.md. */
#ifndef TAPE_NET_H
#define TAPE_NET_H

#include "tape/tape.h"

enum {
	TAPE_CONNECT_SIZE = 44,
	TAPE_RECEIVED_HEAD = 16, /* before the bytes */
	TAPE_SENT_HEAD = 56,	 /* before the first of the bytes */
	TAPE_SENT_SHOWN = 64,	 /* at most so many are on the tape */
	TAPE_NET_END = 1,	 /* flags */
	TAPE_NET_RESET = 2,
};

/* What became of a connect. */
struct tape_connect {
	uint32_t stream;
	bool datagrams;
	uint32_t family, port; /* 4 or 6 */
	unsigned char ip[16];
	uint32_t error; /* errno; 0: it is connected */
	uint64_t request;
};

/* What came. */
struct tape_received {
	uint32_t stream, flags;
	uint64_t request;
	const unsigned char *data; /* borrowed */
	size_t len;
};

/* What the guest sent: held against what it sends in a replay. */
struct tape_sent {
	uint32_t stream, flags;
	uint64_t request; /* the last question before it; 0: there was none */
	uint64_t bytes;
	unsigned char sha256[32];
	const unsigned char *shown; /* the first of them; borrowed */
	size_t shown_len;
};

void tape_connect_encode(unsigned char out[TAPE_CONNECT_SIZE], const struct tape_connect *c);
void tape_received_encode(unsigned char out[TAPE_RECEIVED_HEAD], const struct tape_received *r);
void tape_sent_encode(unsigned char out[TAPE_SENT_HEAD], const struct tape_sent *s);

/* 0, or -1: the record is of another kind, or not as one should be. */
MUST_CHECK int tape_connect_decode(const struct tape_record *record, struct tape_connect *ret);
MUST_CHECK int tape_received_decode(const struct tape_record *record, struct tape_received *ret);
MUST_CHECK int tape_sent_decode(const struct tape_record *record, struct tape_sent *ret);

#endif
