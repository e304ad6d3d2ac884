/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HKDF through libcrypto's EVP: see digest.h. A failure there is out of memory: abort.
 */
#include "crypto/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct digest {
	EVP_MD_CTX *ctx;
};

static void must(int ok)
{
	if (ok != 1)
		abort();
}

struct digest *digest_new(void)
{
	struct digest *d = mem_alloc(sizeof(*d));

	d->ctx = EVP_MD_CTX_new();
	must(d->ctx != NULL);
	must(EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL));
	return d;
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->ctx);
	free(d);
}

void digest_cleanup(struct digest **d)
{
	digest_free(*d);
	*d = NULL;
}

void digest_update(struct digest *d, const void *data, size_t len)
{
	must(EVP_DigestUpdate(d->ctx, data, len));
}

static void write_text(const unsigned char raw[DIGEST_SIZE], char ret[DIGEST_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	char *p = ret;

	memcpy(p, "sha256:", 7);
	p += 7;
	for (int i = 0; i < DIGEST_SIZE; i++) {
		*p++ = hex[raw[i] >> 4];
		*p++ = hex[raw[i] & 15];
	}
	*p = '\0';
}

void digest_text(const struct digest *d, char ret[DIGEST_TEXT])
{
	unsigned char raw[DIGEST_SIZE];
	EVP_MD_CTX *copy = EVP_MD_CTX_new();

	must(copy != NULL);
	must(EVP_MD_CTX_copy_ex(copy, d->ctx));
	must(EVP_DigestFinal_ex(copy, raw, NULL));
	EVP_MD_CTX_free(copy);
	write_text(raw, ret);
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

static void hmac(const void *key, size_t key_len, const void *data, size_t len,
	unsigned char out[DIGEST_SIZE])
{
	unsigned int n = 0;

	must(HMAC(EVP_sha256(), key, (int)key_len, data, len, out, &n) != NULL);
	must(n == DIGEST_SIZE);
}

void digest_hkdf(const void *ikm, size_t ikm_len, const char *info, void *ret_out, size_t out_len)
{
	static const unsigned char salt[DIGEST_SIZE]; /* RFC 5869 2.2: absent means zeros */
	unsigned char prk[DIGEST_SIZE], block[DIGEST_SIZE] = {0}, *out = ret_out;
	size_t info_len = strlen(info), done = 0, previous = 0;
	autofree unsigned char *text = mem_alloc(DIGEST_SIZE + info_len + 1);

	must(out_len <= 255 * DIGEST_SIZE);
	hmac(salt, sizeof(salt), ikm, ikm_len, prk);
	for (unsigned char i = 1; done < out_len; i++) {
		size_t part = out_len - done < DIGEST_SIZE ? out_len - done : DIGEST_SIZE;

		memcpy(text, block, previous);
		memcpy(text + previous, info, info_len);
		text[previous + info_len] = i;
		hmac(prk, sizeof(prk), text, previous + info_len + 1, block);
		memcpy(out + done, block, part);
		done += part;
		previous = DIGEST_SIZE;
	}
}
