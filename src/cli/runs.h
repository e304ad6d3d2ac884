/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of `sandglass runs` share. */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "base/attr.h"
#include "codec/json.h"
#include "ledger/ledger.h"

/* --store and --wait, in every verb's table. */
struct cli_runs {
	const char *store;
	uint64_t wait_ns;
};
#define CLI_RUNS_OPTIONS(field) \
	{"store", CLI_TEXT, "FILE", "the ledger; default: the user's own", AT(field.store)}, \
	{ \
		"wait", CLI_DURATION, "TIME", \
			"how long another process's lock is waited for; default: 10s", \
			AT(field.wait_ns) \
	}

MUST_CHECK int cli_runs_open(const struct cli_runs *options, enum ledger_mode mode,
	struct ledger **ret, struct error *err);
/* Says the error: 1 for what is not there, in use, not allowed or damaged; else 2. */
int cli_runs_fail(const struct error *err);
/* A run as JSON; the caller owns it. */
json_t *cli_runs_json(const struct ledger_run *r);

#endif
