/* SPDX-License-Identifier: Apache-2.0 */
/* What a trial costs beside its candidate, and that the past costs nothing. */
#ifndef BENCH_TRIALS_H
#define BENCH_TRIALS_H

#include <stdbool.h>

#include "bench.h"

/* runs: of 1,000, of 50,000 and of 5,000,000 events in the ledger `store`. */
bool trial_rows(const struct bench *b, const char *store, const char *const runs[3]);

#endif
