/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workspaces in layers: what a fork shares with its parent is kept once, in layers that nobody
 * changes any more, and what each has changed since in an upper one of its own. Docs:
 * docs/format/session.
 */
#ifndef SANDBOX_LAYERS_H
#define SANDBOX_LAYERS_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/overlay.h"
#include "sandbox/sandbox.h"

/* 1 and the workspace laid, or 0: this one is not in layers. */
MUST_CHECK int layers_open(const struct sandbox *s, struct overlay *ret, struct error *err);

/*
 * Makes the workspace of s, whose home is empty, one over the same layers as `from`, which becomes
 * one in layers itself. Nobody may work in `from`. 0: it is not done, since a copy costs as
 * little, or this host cannot lay layers, or the tree has what would not be the same in layers. 1:
 * done.
 */
MUST_CHECK int layers_fork(
	struct sandbox *s, struct sandbox *from, bool even_small, struct error *err);

/* Removes what s has of it, and the layers that no session needs. Again is success. */
MUST_CHECK int layers_destroy(const struct sandbox *s, struct error *err);

#endif
