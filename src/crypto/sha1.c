/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-1: see sha1.h. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/sha1.h"

#include <openssl/sha.h>
#include <stdlib.h>

void sha1_of(const void *data, size_t len, unsigned char ret[SHA1_SIZE])
{
	SHA_CTX ctx;

	if (SHA1_Init(&ctx) != 1 || SHA1_Update(&ctx, data, len) != 1 || SHA1_Final(ret, &ctx) != 1)
		abort();
}
