/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of container images: unpacked, and run. */
#ifndef BENCH_IMAGES_H
#define BENCH_IMAGES_H

#include <stdbool.h>

#include "bench.h"

/* True when every target is met. */
bool image_rows(const struct bench *b);

#endif
