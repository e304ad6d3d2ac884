/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of tapes: checked, opened, sought in. */
#ifndef BENCH_TAPES_H
#define BENCH_TAPES_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool tapes_rows(const struct bench *b);

#endif
