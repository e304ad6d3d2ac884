/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 over a stream, and its text form "sha256:<64 hex digits>". */
#ifndef CRYPTO_DIGEST_H
#define CRYPTO_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"

enum {
	DIGEST_SIZE = 32,
	DIGEST_TEXT = 72, /* "sha256:" + 64 + NUL */
	DIGEST_HEX = 65,
};

/* A running digest. The caller frees it: digest_free. */
struct digest;

struct digest *digest_new(void);
void digest_free(struct digest *d);
void digest_cleanup(struct digest **d);
#define auto_digest CLEANUP(digest_cleanup)

void digest_update(struct digest *d, const void *data, size_t len);
/* The digest of what came so far; the stream can go on. */
void digest_text(const struct digest *d, char ret[DIGEST_TEXT]);

/* Of one buffer, raw and as text. */
void digest_raw(const void *data, size_t len, unsigned char ret[DIGEST_SIZE]);
void digest_of(const void *data, size_t len, char ret[DIGEST_TEXT]);
/* Of a descriptor from its current offset to its end; *ret_size (may be NULL) is how much that was.
 */
MUST_CHECK int digest_of_fd(int fd, char ret[DIGEST_TEXT], uint64_t *ret_size, struct error *err);

/* HMAC-SHA256 (RFC 2104) of two pieces one after the other. */
void digest_hmac(const void *key, size_t key_len, const void *a, size_t a_len, const void *b,
	size_t b_len, unsigned char ret[DIGEST_SIZE]);
/* The 64 hex digits, and a NUL, of a raw digest. */
void digest_hex(const unsigned char raw[DIGEST_SIZE], char ret[DIGEST_HEX]);

/* HKDF-SHA256 (RFC 5869) with an empty salt; out_len at most 255 * 32. */
void digest_hkdf(const void *ikm, size_t ikm_len, const char *info, void *ret_out, size_t out_len);

#endif
