/* SPDX-License-Identifier: Apache-2.0 */
/* Whether code and data are those of the manifest, byte by byte, before anything of them is used.
 */
#ifndef REPLICATE_INPUTS_H
#define REPLICATE_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "replicate/claim.h"
#include "replicate/outcome.h"

/* Called now and then with the bytes of data read so far. */
typedef void inputs_progress(uint64_t bytes);

/*
 * Every data set below the directory: a regular file behind no link, of that size and digest; and,
 * unless extra ones are allowed, no other file. *ret: [{name, path, bytes, sha256}] as found, null
 * where there is nothing to tell; the caller owns it.
 */
MUST_CHECK int inputs_data(int dir, const struct claim *c, bool allow_extra,
	inputs_progress *progress, struct findings *findings, json_t **ret, struct error *err);

/*
 * The checkout: a clean working tree of the manifest's commit. *ret: {commit, files, notes}, notes
 * being what is told of it (submodules without files, pointers of the large file storage).
 */
MUST_CHECK int inputs_code(const char *dir, const struct claim *c, struct findings *findings,
	json_t **ret, struct error *err);

#endif
