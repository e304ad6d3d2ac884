/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name: the kernel removes them even when the program is killed. */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include "base/attr.h"
#include "base/error.h"

/* An empty read-write file in TMPDIR, or in /tmp; the caller closes it. */
MUST_CHECK int temp_open(int *ret_fd, struct error *err);

#endif
