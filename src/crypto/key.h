/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ed25519 keys (RFC 8032): made, kept in a file, named, used. A private key's file is PKCS#8 in PEM
 * (what `openssl pkey` reads), encrypted when it has a passphrase.
 */
#ifndef CRYPTO_KEY_H
#define CRYPTO_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/base64url.h"
#include "crypto/digest.h"

enum {
	KEY_PUBLIC_SIZE = 32,
	KEY_SIGNATURE_SIZE = 64,
	KEY_ID_SIZE = BASE64URL_SIZE(DIGEST_SIZE),
	KEY_PASSPHRASE_MAX = 1023, /* bytes, as OpenSSL has it */
};

struct key_public {
	unsigned char x[KEY_PUBLIC_SIZE];
};

/* Its two names: the thumbprint of RFC 7638, base64url; and the SHA-256 of its
 * SubjectPublicKeyInfo (RFC 8410, 44 bytes of DER), as digest text. */
void key_id(const struct key_public *p, char ret[KEY_ID_SIZE]);
void key_spki_digest(const struct key_public *p, char ret[DIGEST_TEXT]);
/* False also for a public key that is no point of the curve. */
bool key_verifies(const struct key_public *p, const void *data, size_t len,
	const unsigned char signature[KEY_SIGNATURE_SIZE]);

/* A private key. */
struct key;
void key_free(struct key *k);
void key_cleanup(struct key **k);
#define auto_key CLEANUP(key_cleanup)

MUST_CHECK int key_new(struct key **ret, struct error *err);
void key_public(const struct key *k, struct key_public *ret);
MUST_CHECK int key_sign(const struct key *k, const void *data, size_t len,
	unsigned char ret[KEY_SIGNATURE_SIZE], struct error *err);

/*
 * Into a new file of mode 0600, durably; ERR_SYSTEM with EEXIST when there is one. passphrase NULL:
 * not encrypted.
 */
MUST_CHECK int key_write(
	const struct key *k, int dir, const char *name, const char *passphrase, struct error *err);

/* Asked for the passphrase of an encrypted file: heap text (caller frees). */
typedef int key_ask(void *context, char **ret, struct error *err);
/*
 * From a file that is ours alone: a regular file, no symlink, of this user, without any bit for
 * group and others; else ERR_USAGE that names the remedy. ask NULL: an encrypted one is refused.
 */
MUST_CHECK int key_read(int dir, const char *name, key_ask *ask, void *context, struct key **ret,
	struct error *err);

/* Its public half, which key_write put behind the private one: nobody is asked. */
MUST_CHECK int key_read_public(
	int dir, const char *name, struct key_public *ret, struct error *err);

/* The rule for secret files, for others than keys too: opens it, or says what is wrong with it. */
MUST_CHECK int key_file_open(int dir, const char *name, int *ret_fd, struct error *err);

#endif
