/* SPDX-License-Identifier: Apache-2.0 */
/* Directories below another one by paths of any length, nothing followed on the way. */
#ifndef CAS_DEEP_H
#define CAS_DEEP_H

#include "base/attr.h"

/* The directory of this relative, tidy path, or -1 with errno; EXDEV at a mount point. */
int deep_open(int dir, const char *path);

#endif
