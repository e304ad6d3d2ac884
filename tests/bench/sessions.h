/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of sessions: what a user of the library waits for. */
#ifndef BENCH_SESSIONS_H
#define BENCH_SESSIONS_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool session_rows(const struct bench *b);

#endif
