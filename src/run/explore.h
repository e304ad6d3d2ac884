/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other orders of the tasks of a program: does one change how it ends or what it puts out, and
 * which few switches between tasks are to blame?
 */
#ifndef RUN_EXPLORE_H
#define RUN_EXPLORE_H

#include "base/attr.h"
#include "base/error.h"
#include "run/options.h"

enum { EXPLORE_RUNS_MAX = 1000000 };

/* Called between two runs: what is being done, and how much of it is. */
typedef void explore_progress(const char *what, size_t done, size_t of);

struct explore_options {
	struct run_options run;
	uint64_t runs, jobs;
	const char
		*words; /* the options of run as a shell takes them, each with a space after it */
};

/*
 * The run by the rule, then seeds 1 to runs, jobs of them side by side. 0 and *ret_found; *ret_text
 * is for a person, or JSON when the options want it (docs/format/explore; the caller frees it).
 */
MUST_CHECK int explore_execute(const struct explore_options *x, run_say *say,
	explore_progress *progress, bool *ret_found, char **ret_text, struct error *err);

#endif
