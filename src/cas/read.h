/* SPDX-License-Identifier: Apache-2.0 */
/* Stored objects as this folder opens them, below cas_reader. */
#ifndef CAS_READ_H
#define CAS_READ_H

#include "cas/inside.h"

/*
 * The plain bytes that differences to this object are made of: its own, or those of the object that
 * it is itself stored as a difference to. -1 when there are none; *ret_digest is whose they are.
 */
int cas_plain_open(const struct cas *c, const char *digest, char ret_digest[DIGEST_TEXT]);

/* How an object is stored: 1, 0 when it is not there, -1. *ret_base is "" for a plain one. */
MUST_CHECK int cas_stored_find(
	const struct cas *c, const char *hex, char ret_base[DIGEST_TEXT], struct error *err);

#endif
