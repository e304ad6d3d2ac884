/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the network: a download recorded and replayed. */
#ifndef BENCH_NETWORK_H
#define BENCH_NETWORK_H

#include "bench.h"

/* True when every target was met. */
bool network_rows(const struct bench *b);

#endif
