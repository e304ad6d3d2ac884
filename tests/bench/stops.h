/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the bench that are compared with something else than the same work without a sandbox. */
#ifndef BENCH_STOPS_H
#define BENCH_STOPS_H

#include "bench.h"

/* What any seccomp filter costs a call on this machine. For comparison: it has no target. */
void filter_row(const struct bench *b);
/* What guests wait for among themselves, in stops of the same run. True: all targets were met. */
bool stop_rows(const struct bench *b);

#endif
