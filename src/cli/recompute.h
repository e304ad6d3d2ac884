/* SPDX-License-Identifier: Apache-2.0 */
/* Making a run again from the contract that a receipt holds. */
#ifndef CLI_RECOMPUTE_H
#define CLI_RECOMPUTE_H

#include "attest/verdict.h"
#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "run/options.h"

/* What a contract names by its digest alone, and who verifies has to bring. */
struct recompute_inputs {
	const char *rootfs, *in; /* in: the file that was standard input */
	struct run_list bind_ro, bind;
};

/*
 * Runs the command of the contract as `sandglass run` would, its output thrown away, and compares
 * what came of it with the statement. What keeps it from being made again, and what differs, goes
 * into v. -1 when no program could be started at all.
 */
MUST_CHECK int cli_recompute(const json_t *statement, const struct recompute_inputs *in,
	struct verdict *v, struct error *err);

#endif
