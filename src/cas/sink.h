/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object on its way into the store, or a digest alone: bytes go in as they come, are written and
 * hashed at the same time, and become an object at once or not at all.
 */
#ifndef CAS_SINK_H
#define CAS_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/cas.h"

struct sink;

/* Of bytes that have no counterpart in the base. */
#define SINK_NEW UINT64_MAX

/*
 * c NULL: the digest alone is made. base: digest of an object that this one may have much in common
 * with, or NULL; one that is not there is no error. progress may be NULL and is borrowed.
 */
MUST_CHECK int sink_open(struct cas *c, const char *base, const struct cas_progress *progress,
	struct sink **ret, struct error *err);
/* Nothing stays of what was not committed. */
void sink_close(struct sink *s);
void sink_cleanup(struct sink **s);
#define auto_sink CLEANUP(sink_cleanup)

/* The base's bytes, or -1 when there is none to compare with. Borrowed. */
int sink_base(const struct sink *s);
/* len of its bytes from this offset on, valid for as long as the sink; NULL when they cannot be
 * read. */
const unsigned char *sink_base_bytes(struct sink *s, uint64_t at, size_t len);
/* Bytes so far. */
uint64_t sink_size(const struct sink *s);

/* Where the next bytes may be put, one at least. */
MUST_CHECK int sink_room(struct sink *s, unsigned char **ret, size_t *ret_len, struct error *err);
/* len bytes were put there. hint: where the base might have the same ones, or SINK_NEW. */
MUST_CHECK int sink_advance(struct sink *s, size_t len, uint64_t hint, struct error *err);
MUST_CHECK int sink_write(
	struct sink *s, const void *data, size_t len, uint64_t hint, struct error *err);
MUST_CHECK int sink_zeros(struct sink *s, size_t len, uint64_t hint, struct error *err);

/* Makes the object; it is durable and held (cas.h) when this returns. about may be NULL. */
MUST_CHECK int sink_commit(
	struct sink *s, const struct cas_about *about, char ret[DIGEST_TEXT], struct error *err);
/* The same if the digest is this one, else ERR_TAMPERED and no object. */
MUST_CHECK int sink_commit_as(struct sink *s, const struct cas_about *about,
	const char expected[DIGEST_TEXT], struct error *err);

#endif
