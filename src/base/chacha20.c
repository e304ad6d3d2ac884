/* SPDX-License-Identifier: Apache-2.0 */
/* ChaCha20 keystream: see chacha20.h. */
#include "base/chacha20.h"

#include <string.h>

#include "base/bytes.h"

static uint32_t rotate(uint32_t v, int bits)
{
	return v << bits | v >> (32 - bits);
}

static void quarter(uint32_t s[16], int a, int b, int c, int d)
{
	s[a] += s[b];
	s[d] = rotate(s[d] ^ s[a], 16);
	s[c] += s[d];
	s[b] = rotate(s[b] ^ s[c], 12);
	s[a] += s[b];
	s[d] = rotate(s[d] ^ s[a], 8);
	s[c] += s[d];
	s[b] = rotate(s[b] ^ s[c], 7);
}

static void block(const uint32_t in[16], unsigned char out[64])
{
	uint32_t s[16];

	memcpy(s, in, sizeof(s));
	for (int i = 0; i < 10; i++) {
		quarter(s, 0, 4, 8, 12);
		quarter(s, 1, 5, 9, 13);
		quarter(s, 2, 6, 10, 14);
		quarter(s, 3, 7, 11, 15);
		quarter(s, 0, 5, 10, 15);
		quarter(s, 1, 6, 11, 12);
		quarter(s, 2, 7, 8, 13);
		quarter(s, 3, 4, 9, 14);
	}
	for (int i = 0; i < 16; i++)
		bytes_store_u32(out + 4 * i, s[i] + in[i]);
}

void chacha20_stream(const unsigned char key[32], uint64_t nonce, uint64_t counter,
	unsigned char *ret_data, size_t len)
{
	uint32_t s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	unsigned char out[64];

	for (int i = 0; i < 8; i++)
		s[4 + i] = bytes_load_u32(key + 4 * i);
	s[14] = (uint32_t)nonce;
	s[15] = (uint32_t)(nonce >> 32);
	while (len > 0) {
		size_t part = len < sizeof(out) ? len : sizeof(out);

		s[12] = (uint32_t)counter;
		s[13] = (uint32_t)(counter >> 32);
		block(s, out);
		memcpy(ret_data, out, part);
		ret_data += part;
		len -= part;
		counter++;
	}
}
