/* SPDX-License-Identifier: Apache-2.0 */
/* One program in a native container of its own, with a directory of the host as its workspace. */
#ifndef SANDBOX_CONTAINER_H
#define SANDBOX_CONTAINER_H

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * Runs it with `dir` (absolute; NULL: none) shown at the manifest's root, writable, and nothing
 * else of the host's that is not in the view of `sandglass run`. All of the container is gone on
 * return.
 */
MUST_CHECK int container_exec(const struct manifest *m, const char *dir, const char *cwd,
	const struct sandbox_exec *x, struct sandbox_result *ret, struct error *err);

#endif
