/* SPDX-License-Identifier: Apache-2.0 */
/* The files that one run's guest wrote, after its end. */
#ifndef RUN_WRITTEN_H
#define RUN_WRITTEN_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/one.h"
#include "run/tree.h"

struct written {
	struct tree_source source;
	int base; /* owned */
};

/* 1 and *ret when the run had a private copy, 0 when not. The result keeps owning the layer. */
MUST_CHECK int written_open(const struct contract *c, const struct one_result *r,
	struct written *ret, struct error *err);
void written_close(struct written *w);
#define auto_written CLEANUP(written_close)

/* Digest of what the run wrote, "" when it had no private copy; listing: tree_digest's. */
MUST_CHECK int written_digest(const struct contract *c, const struct one_result *r, int listing,
	char ret[DIGEST_TEXT], struct error *err);

#endif
