/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C: see crc32c.h.
 *
 * How it works: eight bytes a step, either by the CPU's instruction (SSE 4.2) or by eight tables,
 * of which the k-th tells what a byte does that k more bytes follow ("slicing by 8").
 */
#include "base/crc32c.h"

#include <string.h>

#include "base/attr.h"
#include "base/bytes.h"

enum { SLICES = 8 };
static const uint32_t polynomial = 0x82f63b78; /* reflected */

static uint32_t table[SLICES][256];

static void fill_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? polynomial : 0);
		table[0][i] = v;
	}
	for (int k = 1; k < SLICES; k++)
		for (uint32_t i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

uint32_t crc32c_by_table(uint32_t before, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t crc = ~before;

	if (!table[0][1])
		fill_table();
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t low = crc ^ bytes_load_u32(p), high = bytes_load_u32(p + 4);

		crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
		      table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
		      table[1][high >> 16 & 255] ^ table[0][high >> 24];
	}
	for (; len > 0; len--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
	return ~crc;
}

#ifdef __x86_64__
/* Inline, unlike bytes_load_u64: a call would cost more than the step. */
static inline uint64_t load_u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

NEEDS_CPU("sse4.2")
static uint32_t by_instruction(uint32_t before, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t crc = ~before;
	uint32_t last;

	for (; len >= 8; len -= 8, p += 8)
		crc = __builtin_ia32_crc32di(crc, load_u64(p));
	last = (uint32_t)crc;
	for (; len > 0; len--, p++)
		last = __builtin_ia32_crc32qi(last, *p);
	return ~last;
}

uint32_t crc32c(uint32_t before, const void *data, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? by_instruction(before, data, len)
						: crc32c_by_table(before, data, len);
}
#else
uint32_t crc32c(uint32_t before, const void *data, size_t len)
{
	return crc32c_by_table(before, data, len);
}
#endif
