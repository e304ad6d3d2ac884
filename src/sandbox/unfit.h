/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a tree would be the same as a lower layer of an overlay. */
#ifndef SANDBOX_UNFIT_H
#define SANDBOX_UNFIT_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"

enum unfit_of {
	UNFIT_PLAIN,	/* a plain tree: what an overlay gives a meaning to makes it unfit too */
	UNFIT_IN_UPPER, /* what was written as an upper layer: that is the kernel's own there */
};

/*
 * 1: it has names that share a file, which would come apart at the first write, or special files,
 * other owners, what cannot be looked into, or attributes of an overlay. 0: it is fit;
 * *ret_is_small says that a copy costs next to nothing.
 */
MUST_CHECK int unfit_find(int dir, enum unfit_of what, bool *ret_is_small, struct error *err);

#endif
