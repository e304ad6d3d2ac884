/* SPDX-License-Identifier: Apache-2.0 */
/* What single calls cost natively, in bubblewrap, under faketime and in the sandbox: a table. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include "bench.h"

void calls_table(const struct bench *b);

#endif
