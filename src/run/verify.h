/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: the same contract twice, under other conditions of the host, and what differs. */
#ifndef RUN_VERIFY_H
#define RUN_VERIFY_H

#include "base/attr.h"
#include "base/error.h"
#include "run/difference.h"
#include "run/one.h"

/* The first run's side, kept for comparing: copies of its output and its decisions. */
struct verify {
	int out[2], err[2]; /* spools of the first and the second run; owned */
	struct decisions decisions[2];
};

MUST_CHECK int verify_open(struct verify *v, struct error *err);
void verify_close(struct verify *v);
#define auto_verify CLEANUP(verify_close)

/* Makes a spec's outputs go to the spools of run 0 or 1. */
void verify_attach(struct verify *v, int run, struct one_spec *spec);
/*
 * Runs the second one (spec as for the first) and compares. *ret_second is the caller's to finish;
 * it may have ended so that nothing can be compared (time-out, interrupt): *ret says nothing then.
 */
MUST_CHECK int verify_run(struct verify *v, struct one_spec spec, const struct one_result *first,
	struct one_result *ret_second, struct difference *ret, struct error *err);
/* What differs, a few lines for a person. */
void verify_say(const struct difference *d, bool deterministic, run_say *say);

#endif
