/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A git index without what stat said: times, inodes, owners and sizes are zero, caches are left
 * out, so that its bytes depend on what is staged alone. git looks at the files again when it meets
 * one.
 */
#ifndef CAS_GIT_INDEX_H
#define CAS_GIT_INDEX_H

#include <stddef.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

enum { GIT_INDEX_MAX = 256 << 20 };

/* Versions 2, 3 and 4 with SHA-1 become version 2, or 3 where flags need it. ERR_FORMAT for what is
 * malformed, ERR_UNSUPPORTED for a split index and anything else that cannot be kept. */
MUST_CHECK int git_index_normalise(
	const void *data, size_t len, struct bytes *out, struct error *err);

#endif
