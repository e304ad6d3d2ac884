/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the static supervisor. */
#ifndef CONFIG_SUPERVISOR_H
#define CONFIG_SUPERVISOR_H

#include "base/attr.h"
#include "base/error.h"

/*
 * A readable descriptor of it (the caller closes it): SANDGLASS_SUPERVISE or the setting of that
 * name, else beside this program, else in ../libexec/sandglass. The error names where it was
 * sought.
 */
MUST_CHECK int supervisor_open(int *ret_fd, struct error *err);

#endif
