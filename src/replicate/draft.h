/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest to begin with, made of what is there. */
#ifndef REPLICATE_DRAFT_H
#define REPLICATE_DRAFT_H

#include "base/attr.h"
#include "base/error.h"

struct draft {
	const char *code, *data, *image; /* image: REF@sha256:... */
	const char *id, *entrypoint;	 /* or NULL */
};

/*
 * The manifest's text (caller frees): the checkout's commit, every file of the data directory with
 * size and digest, the image's digest, and one target whose numbers are to be filled in. A checkout
 * that is not clean, and a data directory with anything else than files, are ERR_USAGE: what is
 * made of them would be an input mismatch.
 */
MUST_CHECK int draft_make(const struct draft *d, char **ret, struct error *err);

#endif
