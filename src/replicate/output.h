/* SPDX-License-Identifier: Apache-2.0 */
/* The output of an analysis, which may be anything: looked at, digested, taken over. */
#ifndef REPLICATE_OUTPUT_H
#define REPLICATE_OUTPUT_H

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "replicate/claim.h"
#include "replicate/outcome.h"

/*
 * Walks the directory `from` without following anything. Every regular file is digested and, with
 * `to` not -1, copied there (mode 0644), as long as the limits allow.
 * What must not be in an output goes into findings. *ret: [{path, bytes, sha256}] in order of
 * names; the caller owns it.
 */
MUST_CHECK int output_take(int from, int to, const struct claim_limits *limits, unsigned run,
	struct findings *findings, json_t **ret, struct error *err);

#endif
