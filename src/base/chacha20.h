/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ChaCha20 as first published (D. J. Bernstein, 2008): 256-bit key, 64-bit nonce, 64-bit block
 * counter, 20 rounds. Used as an addressable stream of guest randomness:
 * nonce = process ordinal, counter = draw ordinal << 32 | block within the draw.
 */
#ifndef BASE_CHACHA20_H
#define BASE_CHACHA20_H

#include <stddef.h>
#include <stdint.h>

/* len bytes of keystream from the block with this counter on. */
void chacha20_stream(const unsigned char key[32], uint64_t nonce, uint64_t counter,
	unsigned char *ret_data, size_t len);

#endif
