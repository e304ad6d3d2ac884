/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing numbers: see compare.h. */
#include "replicate/compare.h"

#include <float.h>
#include <math.h>

static bool is_near(double claimed, double allowed, double value)
{
	double a = fabs(claimed), b = fabs(value), larger = a > b ? a : b;
	double difference = fabs(value - claimed);

	if (allowed == 0)
		return value == claimed;
	return difference <= allowed + 2 * DBL_EPSILON * larger;
}

bool compare_is_within(double claimed, const struct tolerance *t, double value)
{
	switch (t->kind) {
	case TOLERANCE_ABSOLUTE:
		return is_near(claimed, t->high, value);
	case TOLERANCE_RELATIVE:
		return is_near(claimed, t->high * fabs(claimed), value);
	case TOLERANCE_INTERVAL:
		return t->low <= value && value <= t->high;
	case TOLERANCES:
		break;
	}
	return false;
}

struct spread compare_spread(const double *values, size_t n)
{
	struct spread s = {.min = values[0], .max = values[0], .is_stable = true};

	for (size_t i = 1; i < n; i++) {
		s.min = values[i] < s.min ? values[i] : s.min;
		s.max = values[i] > s.max ? values[i] : s.max;
		s.is_stable = s.is_stable && values[i] == values[0];
	}
	s.width = s.max - s.min;
	return s;
}
