/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-width little-endian integers and length-prefixed strings, read and written through cursors
 * that never run past their end. The only way integers get in and out of files and frames.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* A growing buffer; init with {0}. The owner calls bytes_finish. */
struct bytes {
	unsigned char *data;
	size_t len, room;
};

void bytes_finish(struct bytes *b);
#define auto_bytes CLEANUP(bytes_finish)

void bytes_put(struct bytes *b, const void *data, size_t len);
void bytes_put_u8(struct bytes *b, uint8_t v);
void bytes_put_u16(struct bytes *b, uint16_t v);
void bytes_put_u32(struct bytes *b, uint32_t v);
void bytes_put_u64(struct bytes *b, uint64_t v);
/* u32 length, then the bytes. */
void bytes_put_block(struct bytes *b, const void *data, size_t len);
void bytes_put_string(struct bytes *b, const char *s);

/* A reader over borrowed bytes. A read past the end gives 0 and sets `bad` for good. */
struct bytes_reader {
	const unsigned char *pos, *end;
	bool bad;
};

struct bytes_reader bytes_reader(const void *data, size_t len);
uint8_t bytes_get_u8(struct bytes_reader *r);
uint16_t bytes_get_u16(struct bytes_reader *r);
uint32_t bytes_get_u32(struct bytes_reader *r);
uint64_t bytes_get_u64(struct bytes_reader *r);
/* Copies len bytes out, zeros when they are not there. */
void bytes_get(struct bytes_reader *r, void *ret_data, size_t len);
/* A block as a borrowed slice; longer than max is bad (NULL, 0). */
const unsigned char *bytes_get_block(struct bytes_reader *r, size_t max, size_t *ret_len);
/* A heap string (caller frees), never NULL; over max or holding a NUL is bad and gives "". */
char *bytes_get_string(struct bytes_reader *r, size_t max);

uint32_t bytes_load_u32(const void *p);
uint64_t bytes_load_u64(const void *p);
void bytes_store_u32(void *p, uint32_t v);
void bytes_store_u64(void *p, uint64_t v);

#endif
