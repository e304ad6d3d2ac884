/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's signing key and the public halves of all that he ever had.
 *
 * A directory (0700) with signing.pem, the private key (crypto/key), and jwks.json, a JSON Web Key
 * Set (RFC 7517, RFC 8037) of the public keys, the newest first. A rotation writes the new key
 * beside the old one, adds it to the set, and renames it: whatever is killed, the set has every
 * key that could have signed. The old private key is gone then: it can sign no more.
 */
#ifndef ATTEST_KEYRING_H
#define ATTEST_KEYRING_H

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "crypto/key.h"

/* Makes the directory and a key in it; ERR_USAGE when there is one. passphrase may be NULL. */
MUST_CHECK int keyring_make(
	const char *dir, const char *passphrase, struct key_public *ret, struct error *err);
/* Takes another key. ret_old (may be NULL) is the one before. */
MUST_CHECK int keyring_rotate(const char *dir, const char *passphrase, struct key_public *ret,
	struct key_public *ret_old, struct error *err);
/* The key to sign with: the file `path`, or that of the directory. */
MUST_CHECK int keyring_open(const char *dir, const char *path, key_ask *ask, void *context,
	struct key **ret, struct error *err);
/* The public key that is in use, without the private one. 1, 0 when there is none, -1. */
MUST_CHECK int keyring_public(const char *dir, struct key_public *ret, struct error *err);
/* The set; without a directory it is empty. The caller owns it. */
MUST_CHECK int keyring_jwks(const char *dir, json_t **ret, struct error *err);

/* One public key as a JSON Web Key, and a set of one. The caller owns it. */
json_t *jwk_of(const struct key_public *p);
json_t *jwks_of(const struct key_public *p);
/*
 * Of a set from anybody: 1 and the key when it has an Ed25519 key with this id; 0; -1 (ERR_FORMAT)
 * when it is no set. Keys of other kinds are passed over; one that says another id than its own is
 * an error.
 */
MUST_CHECK int jwks_find(
	const json_t *set, const char *id, struct key_public *ret, struct error *err);

#endif
