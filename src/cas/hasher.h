/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of a stream beside the work that makes it: a long stream is hashed by a child process on
 * another CPU, through memory that both have. Where there is one CPU, or the stream is short, it
 * happens in place.
 */
#ifndef CAS_HASHER_H
#define CAS_HASHER_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"

enum { HASHER_SLOT = 256 * 1024 };

struct hasher;

MUST_CHECK int hasher_new(struct hasher **ret, struct error *err);
void hasher_free(struct hasher *h);
/* Where the next bytes go, HASHER_SLOT of them; another place after each hasher_pass. */
unsigned char *hasher_slot(struct hasher *h);
/* The first len bytes of the slot come next in the stream. They may still be read until the slot
 * after the next is asked for. */
MUST_CHECK int hasher_pass(struct hasher *h, size_t len, struct error *err);
/* Of all that was passed. Once. */
MUST_CHECK int hasher_finish(struct hasher *h, char ret[DIGEST_TEXT], struct error *err);

#endif
