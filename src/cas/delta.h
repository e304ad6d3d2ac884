/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object stored as what it has in common with another one, and the rest. The other one is stored
 * plain, so that there are never chains.
 *
 *   16 bytes  "sandglass-delta1"      32  SHA-256 of the other object
 *    8  size of this object            8  offset of the table
 *    ...  literal bytes                8  count of ranges, then for each
 *    8  offset in the other object, or with the top bit set in this file     8  length
 */
#ifndef CAS_DELTA_H
#define CAS_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum {
	DELTA_HEADER = 64,
	DELTA_RANGE = 16,
	DELTA_RANGES_MAX = 1 << 20, /* beyond it everything is literal */
};

/* Being written. */
struct delta_range {
	uint64_t from, len;
};
struct delta {
	int fd;
	uint64_t size, end; /* of the object so far; of the file */
	uint64_t begun;	    /* bytes of the file that the disk was told to begin with */
	struct delta_range *ranges;
	size_t count, room;
};

void delta_init(struct delta *d, int fd);
void delta_finish(struct delta *d);
/* The next len bytes are those of the other object from this offset on. */
void delta_copy(struct delta *d, uint64_t from, uint64_t len);
MUST_CHECK int delta_literal(struct delta *d, const void *data, size_t len, struct error *err);
/* Table and header. */
MUST_CHECK int delta_close(struct delta *d, const char base[DIGEST_TEXT], struct error *err);

/* Being read. What is malformed is ERR_TAMPERED. */
struct delta_reader {
	int fd, base;			       /* owned */
	uint64_t size, base_size, table, left; /* ranges that are still in the table */
	uint64_t done, next;
	struct delta_range range; /* what is left of the one being read */
};

/* The header alone: the other object and this one's size. */
MUST_CHECK int delta_read_header(
	int fd, char ret_base[DIGEST_TEXT], uint64_t *ret_size, struct error *err);
/* Takes both descriptors. */
MUST_CHECK int delta_reader_init(struct delta_reader *r, int fd, int base, struct error *err);
void delta_reader_finish(struct delta_reader *r);
/* 1 with at least a byte, 0 at the end. */
MUST_CHECK int delta_reader_next(
	struct delta_reader *r, void *data, size_t len, size_t *ret_len, struct error *err);

#endif
