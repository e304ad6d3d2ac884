/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a file are nothing but zeros: found in its bytes, not in how a disk holds them. */
#ifndef CAS_HOLES_H
#define CAS_HOLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "cas/tar.h"

enum {
	HOLES_BLOCK = 64 * 1024,
	HOLES_MIN = 1 << 20, /* bytes of zeros below which a file is stored whole */
};

/*
 * 1 and the pieces that hold data (caller frees) when the aligned blocks of a file that are all
 * zeros come to HOLES_MIN bytes; 0 when it is to be stored whole; -1. Of more pieces than `most` it
 * takes larger blocks, the smallest power of two that does.
 */
MUST_CHECK int holes_find(int fd, uint64_t size, size_t most, struct tar_piece **ret,
	size_t *ret_count, struct error *err);

#endif
