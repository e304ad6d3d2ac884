/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions of a run as text, a line each: docs/format/trace. */
#ifndef RUN_TRACE_H
#define RUN_TRACE_H

#include "base/attr.h"
#include "base/error.h"
#include "run/decisions.h"

/* One line of a trace, without its newline (caller frees). Nothing in it comes from the host. */
char *trace_line(const struct decision *d);
/* Writes the kept decisions of a run into a file, whole or not at all; a pipe or device as it is.
 */
MUST_CHECK int trace_write(const char *path, const struct decisions *d, struct error *err);

#endif
