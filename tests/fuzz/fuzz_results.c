/* SPDX-License-Identifier: Apache-2.0 */
/* results.json from anybody: every number that is taken is finite, and is found by its name. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "replicate/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_results struct results r = {0};
	struct error err = {0};

	if (results_parse((const char *)data, size, &r, &err) < 0)
		return 0;
	for (size_t i = 0; i < r.count; i++)
		if (!isfinite(r.items[i].value) ||
			results_find(&r, r.items[i].name) != &r.items[i].value)
			abort();
	return 0;
}
