/* SPDX-License-Identifier: Apache-2.0 */
/* `sandglass run --save` and `--from`: recorded runs that go into the ledger, and out of it. */
#ifndef CLI_SAVED_H
#define CLI_SAVED_H

#include "base/attr.h"
#include "cli/runs.h"
#include "run/options.h"

struct cli_saved {
	struct cli_runs runs;
	const char *label, *from; /* NULL: not asked for */
};

/* Between its beginning and its end. */
struct cli_saved_run {
	struct ledger *ledger;
	char *dir, *tape; /* owned: a directory of ours, the file in it */
	int lock;	  /* on dir while dir is not NULL: nobody sweeps it */
	const char *label, *from, *path;
	uint64_t records;
};

/* Sets the run's options so that there is a tape; nothing when neither was asked for. */
MUST_CHECK int cli_saved_begin(const struct cli_saved *s, struct run_options *o,
	struct cli_saved_run *ret, struct error *err);
/* The run has ended: into the ledger with it. */
MUST_CHECK int cli_saved_end(struct cli_saved_run *r, struct error *err);
void cli_saved_finish(struct cli_saved_run *r);

#endif
