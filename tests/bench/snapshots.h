/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of snapshots: a large tree into the store, and once more. */
#ifndef BENCH_SNAPSHOTS_H
#define BENCH_SNAPSHOTS_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool snapshot_rows(const struct bench *b);

#endif
