/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights that an ordinary user has over files of his own and has not given himself: one of mode
 * 000 is his all the same, and a workspace full of them has to be frozen without changing them.
 */
#ifndef SANDBOX_OWNER_H
#define SANDBOX_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

/* Fills result, or fails. Runs in a child: what else it changes in memory is lost. */
typedef int owner_work(void *arg, void *result, struct error *err);
/* Called while the child still holds what it holds. */
typedef int owner_taken(void *arg, const void *result, struct error *err);

/* Whether a failure may be one of rights that owner_run has. */
bool owner_might(const struct error *err);
/*
 * Runs the work in a child with a user namespace of its own, in which it may read whatever belongs
 * to the caller, then `taken` (may be NULL) here. *err keeps its old content when this host makes
 * no such child: 1 then.
 */
MUST_CHECK int owner_run(owner_work *work, owner_taken *taken, void *arg, void *result, size_t len,
	struct error *err);

#endif
