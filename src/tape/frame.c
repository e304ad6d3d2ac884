/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a tape: see frame.h. */
#include "tape/frame.h"

#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"

/* A first byte that is no text, and line ends that a transfer as text would change. */
const char tape_magic[TAPE_MAGIC_SIZE] = {'\x93', 'S', 'G', 'T', 'P', '\r', '\n', '\0'};
const char tape_end_magic[TAPE_MAGIC_SIZE] = {'S', 'G', 'T', 'P', 'E', 'N', 'D', '\n'};

const char *tape_kind_name(unsigned kind)
{
	switch (kind) {
#define X(name, number, words, payload) \
	case number: \
		return words;
		TAPE_KINDS(X)
#undef X
	default:
		return NULL;
	}
}

static void put_u16(unsigned char *out, uint16_t v)
{
	out[0] = (unsigned char)v;
	out[1] = (unsigned char)(v >> 8);
}

uint32_t tape_start_encode(
	unsigned char out[TAPE_START], uint32_t version, const char *text, size_t len)
{
	uint32_t sum;

	memcpy(out, tape_magic, TAPE_MAGIC_SIZE);
	bytes_store_u32(out + 8, version);
	bytes_store_u32(out + 12, 0);
	bytes_store_u32(out + 16, (uint32_t)len);
	sum = crc32c(crc32c(0, out, 20), text, len);
	bytes_store_u32(out + 20, sum);
	return sum;
}

void tape_frame_encode(unsigned char out[TAPE_FRAME], const struct tape_frame *f)
{
	bytes_store_u32(out, f->len);
	put_u16(out + 4, f->kind);
	put_u16(out + 6, f->flags);
	bytes_store_u64(out + 8, f->ordinal);
	bytes_store_u64(out + 16, f->now_ns);
	bytes_store_u32(out + 24, f->task);
	bytes_store_u32(out + 28, f->checksum);
}

void tape_frame_decode(const unsigned char in[TAPE_FRAME], struct tape_frame *ret)
{
	*ret = (struct tape_frame){.len = bytes_load_u32(in),
		.kind = (uint16_t)(in[4] | in[5] << 8),
		.flags = (uint16_t)(in[6] | in[7] << 8),
		.ordinal = bytes_load_u64(in + 8),
		.now_ns = bytes_load_u64(in + 16),
		.task = bytes_load_u32(in + 24),
		.checksum = bytes_load_u32(in + 28)};
}
