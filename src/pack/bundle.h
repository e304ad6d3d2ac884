/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a pack and their two hashes: docs/format/pack says how they are walked, to the byte.
 * What is copied is what was hashed: there is no moment between the two.
 */
#ifndef PACK_BUNDLE_H
#define PACK_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"
#include "pack/faults.h"

enum {
	BUNDLE_FILES_MAX = 65536,
	BUNDLE_DEPTH_MAX = 64,
	BUNDLE_PATH_MAX = 4095,
};
#define BUNDLE_BYTES_MAX (UINT64_C(1) << 30)

/* Owns its paths: bundle_finish. */
struct bundle {
	char **paths; /* from the root, sorted by their bytes */
	size_t count;
	uint64_t bytes;
	char digest[DIGEST_TEXT];  /* the bundle hash: every file, the external pin */
	char content[DIGEST_TEXT]; /* the content hash: all but manifest.toml of the root */
};
void bundle_finish(struct bundle *b);
#define auto_bundle CLEANUP(bundle_finish)

/*
 * Hashes what is below dir and copies it into `to`, an empty directory, unless that is -1: files of
 * mode 0555 and one fixed time, for the hashes cover neither. Symbolic links and names that are not
 * NFC are faults, and then nothing is copied. ERR_BUSY: a file changed meanwhile.
 */
MUST_CHECK int bundle_take(
	int dir, int to, struct bundle *ret, struct faults *faults, struct error *err);
bool bundle_has(const struct bundle *b, const char *path);
/* Whether text is a pin: "sha256:" and 64 lowercase hex digits. */
bool bundle_is_pin(const char *text);

#endif
