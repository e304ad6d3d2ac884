/* SPDX-License-Identifier: Apache-2.0 */
/* The host's randomness: see random.h. */
#include "base/random.h"

#include <stdlib.h>
#include <sys/random.h>

void random_hex(char *ret, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte;

		/* Fails only where a filter forbids it; a name that can be guessed is no answer. */
		if (getrandom(&byte, 1, 0) != 1)
			abort();
		ret[i] = "0123456789abcdef"[byte & 15];
	}
	ret[len] = '\0';
}
