/* SPDX-License-Identifier: Apache-2.0 */
/* A git index from anybody: what is normalised stays as it is when it is normalised again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cas/git_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_bytes struct bytes once = {0}, twice = {0};
	struct error err;

	if (git_index_normalise(data, size, &once, &err) < 0)
		return 0;
	if (git_index_normalise(once.data, once.len, &twice, &err) < 0 || once.len != twice.len ||
		memcmp(once.data, twice.data, once.len) != 0)
		abort();
	return 0;
}
