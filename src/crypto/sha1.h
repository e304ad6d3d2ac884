/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1, for formats of others that have it; nothing of ours rests on it. */
#ifndef CRYPTO_SHA1_H
#define CRYPTO_SHA1_H

#include <stddef.h>

enum { SHA1_SIZE = 20 };

void sha1_of(const void *data, size_t len, unsigned char ret[SHA1_SIZE]);

#endif
