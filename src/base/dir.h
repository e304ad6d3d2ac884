/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of our own: made with all that is above them. */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include "base/attr.h"
#include "base/error.h"

/*
 * What is missing of the path is made with mode 0700, what is there stays as it is. 0 does not say
 * that the last one can be used: whoever opens it finds out.
 */
MUST_CHECK int dir_make(const char *path, struct error *err);

#endif
