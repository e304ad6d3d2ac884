/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 and HKDF: see digest.h. The block function's own interface is used, not EVP: the same
 * code (with the CPU's SHA instructions) without the millisecond that EVP takes to find it.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "crypto/digest.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct digest {
	SHA256_CTX ctx;
};

/* These fail for no input; if one does, nothing that follows could be trusted. */
static void must(int ok)
{
	if (ok != 1)
		abort();
}

struct digest *digest_new(void)
{
	struct digest *d = mem_alloc(sizeof(*d));

	must(SHA256_Init(&d->ctx));
	return d;
}

void digest_free(struct digest *d)
{
	free(d);
}

void digest_cleanup(struct digest **d)
{
	digest_free(*d);
	*d = NULL;
}

void digest_update(struct digest *d, const void *data, size_t len)
{
	must(SHA256_Update(&d->ctx, data, len));
}

void digest_hex(const unsigned char raw[DIGEST_SIZE], char ret[DIGEST_HEX])
{
	static const char hex[] = "0123456789abcdef";

	for (int i = 0; i < DIGEST_SIZE; i++) {
		*ret++ = hex[raw[i] >> 4];
		*ret++ = hex[raw[i] & 15];
	}
	*ret = '\0';
}

static void write_text(const unsigned char raw[DIGEST_SIZE], char ret[DIGEST_TEXT])
{
	memcpy(ret, "sha256:", 7);
	digest_hex(raw, ret + 7);
}

void digest_text(const struct digest *d, char ret[DIGEST_TEXT])
{
	unsigned char raw[DIGEST_SIZE];
	SHA256_CTX copy = d->ctx;

	must(SHA256_Final(raw, &copy));
	write_text(raw, ret);
}

void digest_raw(const void *data, size_t len, unsigned char ret[DIGEST_SIZE])
{
	SHA256(data, len, ret);
}

void digest_of(const void *data, size_t len, char ret[DIGEST_TEXT])
{
	auto_digest struct digest *d = digest_new();

	digest_update(d, data, len);
	digest_text(d, ret);
}

int digest_of_fd(int fd, char ret[DIGEST_TEXT], uint64_t *ret_size, struct error *err)
{
	enum { CHUNK = 128 * 1024 };
	autofree unsigned char *buf = mem_alloc(CHUNK);
	auto_digest struct digest *d = digest_new();
	uint64_t size = 0;

	for (;;) {
		ssize_t n = read(fd, buf, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read");
		if (n == 0)
			break;
		digest_update(d, buf, (size_t)n);
		size += (uint64_t)n;
	}
	digest_text(d, ret);
	if (ret_size)
		*ret_size = size;
	return 0;
}

void digest_hmac(const void *key, size_t key_len, const void *a, size_t a_len, const void *b,
	size_t b_len, unsigned char ret[DIGEST_SIZE])
{
	enum { BLOCK = 64 };
	unsigned char inner[BLOCK] = {0}, outer[BLOCK];
	SHA256_CTX ctx;

	/* A key longer than a block is its digest (RFC 2104). */
	if (key_len > BLOCK)
		digest_raw(key, key_len, inner);
	else
		memcpy(inner, key, key_len);
	for (int i = 0; i < BLOCK; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	must(SHA256_Init(&ctx) && SHA256_Update(&ctx, inner, BLOCK) &&
		SHA256_Update(&ctx, a, a_len) && SHA256_Update(&ctx, b, b_len) &&
		SHA256_Final(ret, &ctx));
	must(SHA256_Init(&ctx) && SHA256_Update(&ctx, outer, BLOCK) &&
		SHA256_Update(&ctx, ret, DIGEST_SIZE) && SHA256_Final(ret, &ctx));
}

void digest_hkdf(const void *ikm, size_t ikm_len, const char *info, void *ret_out, size_t out_len)
{
	static const unsigned char salt[DIGEST_SIZE]; /* RFC 5869 2.2: absent means zeros */
	unsigned char prk[DIGEST_SIZE], block[DIGEST_SIZE] = {0}, *out = ret_out;
	size_t info_len = strlen(info), done = 0, previous = 0;
	autofree unsigned char *text = mem_alloc(DIGEST_SIZE + info_len + 1);

	must(out_len <= 255 * DIGEST_SIZE);
	digest_hmac(salt, sizeof(salt), ikm, ikm_len, NULL, 0, prk);
	for (unsigned char i = 1; done < out_len; i++) {
		size_t part = out_len - done < DIGEST_SIZE ? out_len - done : DIGEST_SIZE;

		memcpy(text, block, previous);
		memcpy(text + previous, info, info_len);
		text[previous + info_len] = i;
		digest_hmac(prk, sizeof(prk), text, previous + info_len + 1, NULL, 0, block);
		memcpy(out + done, block, part);
		done += part;
		previous = DIGEST_SIZE;
	}
}
