/* SPDX-License-Identifier: Apache-2.0 */
/* A computed number against the claimed one. Pure. */
#ifndef REPLICATE_COMPARE_H
#define REPLICATE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "replicate/claim.h"

/*
 * Whether a finite value is within the tolerance of the claimed one; borders are within.
 * Absolute: |value - claimed| <= t. Relative: |value - claimed| <= t * |claimed|. Both numbers are
 * written in decimal and compared in binary: what rounding may add to the difference, two units in
 * the last place of the larger number, is forgiven - but for t = 0, which wants the very number.
 * Interval: low <= value <= high, whatever was claimed.
 */
bool compare_is_within(double claimed, const struct tolerance *t, double value);

/* What n runs gave for one target. */
struct spread {
	double min, max;
	double width;	/* max - min; infinite when no double holds it */
	bool is_stable; /* all of them are the same number */
};
struct spread compare_spread(const double *values, size_t n);

#endif
