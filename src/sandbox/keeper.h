/* SPDX-License-Identifier: Apache-2.0 */
/* One program as an ordinary process tree of the host, none of which outlives it. */
#ifndef SANDBOX_KEEPER_H
#define SANDBOX_KEEPER_H

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * Runs it in the directory `cwd` (borrowed descriptor) with this environment alone. The tree is
 * killed when it is too slow, when the program has ended, and when the caller dies; also when the
 * program kills what watches over it, but not when it kills the caller too. Nothing is
 * isolated; a tree that forks faster than it can be killed may get away.
 */
MUST_CHECK int keeper_exec(int cwd, char *const *env, uint64_t timeout_ns,
	const struct sandbox_exec *x, struct sandbox_result *ret, struct error *err);

#endif
