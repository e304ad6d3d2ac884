/* SPDX-License-Identifier: Apache-2.0 */
/* `sandglass run` as one function: contract, one run or two, evidence, exit status. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "base/attr.h"
#include "base/error.h"
#include "run/options.h"

/*
 * Runs the command of the options. 0 and *ret_status, the status to exit with, which follows the
 * precedence of error.def and docs/format/report; *ret_report is the report's JSON (caller frees),
 * or NULL when nobody asked. -1 when the run could not be made at all.
 */
MUST_CHECK int run_execute(const struct run_options *o, run_say *say, int *ret_status,
	char **ret_report, struct error *err);

/* The contract's JSON that run_execute would use (caller frees). */
MUST_CHECK int run_contract_text(
	const struct run_options *o, run_say *say, char **ret_text, struct error *err);

/* The runtime's command line that run_execute would use, as a shell takes it (caller frees). */
MUST_CHECK int run_command_text(
	const struct run_options *o, run_say *say, char **ret_text, struct error *err);

/* True while the caller's terminal is raw, so that a line has to end in "\r\n". */
bool run_is_raw(void);

#endif
