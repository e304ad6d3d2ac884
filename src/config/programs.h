/* SPDX-License-Identifier: Apache-2.0 */
/* Where the project's other programs are. */
#ifndef CONFIG_PROGRAMS_H
#define CONFIG_PROGRAMS_H

#include "base/attr.h"
#include "base/error.h"

/*
 * A readable descriptor, close-on-exec, of the program `name`: beside this program, else in
 * ../libexec/sandglass. The caller closes it. The error (ERR_MISSING) names where it was sought;
 * `remedy` ends its sentence.
 */
MUST_CHECK int program_open(const char *name, const char *remedy, int *ret_fd, struct error *err);

#endif
