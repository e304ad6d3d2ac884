/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that makes a container. */
#ifndef OCI_CMDLINE_H
#define OCI_CMDLINE_H

#include "base/attr.h"
#include "base/error.h"
#include "launch/launch.h"
#include "oci/oci.h"

struct cmdline {
	const struct oci_spec *runtime;
	const struct launch_spec *launch;
	const char *dir;  /* the stage */
	const char *name; /* the container's */
};

MUST_CHECK int cmdline_run(const struct cmdline *c, struct words *out, struct error *err);
/* Removes the container with its anonymous volumes, whatever it does. */
void cmdline_remove(const struct oci *r, const char *name, struct words *out);
/* Program and words of the dialect, then `last`. */
void cmdline_ask(
	const struct oci *r, const char *const *words, const char *last, struct words *out);

#endif
