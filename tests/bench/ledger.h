/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the ledger: appends, forks of long runs, a run loaded and projected. */
#ifndef BENCH_LEDGER_H
#define BENCH_LEDGER_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool ledger_rows(const struct bench *b);

#endif
