/* SPDX-License-Identifier: Apache-2.0 */
/* Removing what somebody else has filled: any depth, any modes, no symlink or mount followed. */
#ifndef BASE_REMOVE_H
#define BASE_REMOVE_H

#include "base/attr.h"
#include "base/error.h"

/* Empties the directory. What cannot be removed is told last, after all else is gone. */
MUST_CHECK int remove_contents(int dir, struct error *err);
/* Removes an entry, with all below it when it is a directory. 1, or 0 when it was not there. */
MUST_CHECK int remove_tree(int dir, const char *name, struct error *err);

#endif
