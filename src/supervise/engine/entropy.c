/* SPDX-License-Identifier: Apache-2.0 */
/* Guest randomness: see entropy.h. */
#include "supervise/engine/entropy.h"

#include <stdio.h>
#include <string.h>

#include "base/chacha20.h"
#include "supervise/report.h"

enum { BLOCK = 64 }; /* bytes to one count of ChaCha20 */

static unsigned char key[32];

void entropy_init(const unsigned char k[32])
{
	memcpy(key, k, sizeof(key));
}

uint64_t entropy_begin(struct task *t, size_t len)
{
	uint64_t draw = t->proc->draws++;

	report_entropy(t->proc->ordinal, draw, (uint32_t)len);
	return draw;
}

void entropy_piece(struct task *t, uint64_t draw, size_t offset, void *ret_data, size_t len)
{
	chacha20_stream(key, t->proc->ordinal, draw << 32 | offset / BLOCK, ret_data, len);
}

void entropy_draw(struct task *t, void *ret_data, size_t len)
{
	entropy_piece(t, entropy_begin(t, len), 0, ret_data, len);
}

void entropy_fixed(uint64_t which, void *ret_data, size_t len)
{
	chacha20_stream(key, 0, which << 32, ret_data, len);
}

void entropy_uuid(const unsigned char b[16], char ret_text[37])
{
	snprintf(ret_text, 37,
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		b[2], b[3], b[4], b[5], (b[6] & 0x0f) | 0x40, b[7], (b[8] & 0x3f) | 0x80, b[9],
		b[10], b[11], b[12], b[13], b[14], b[15]);
}
