/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of evidence: the audit log and receipts. */
#ifndef BENCH_EVIDENCE_H
#define BENCH_EVIDENCE_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool evidence_rows(const struct bench *b);

#endif
