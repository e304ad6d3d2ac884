/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest from anybody: read or refused, and then judged, whatever its bytes are. */
#include <stdint.h>
#include <stdlib.h>

#include "pack/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_faults struct faults f = {0};
	auto_json json_t *root = NULL;

	pack_manifest_read((const char *)data, size, &root, &f);
	/* What is no TOML is a fault. */
	if (!root && !f.count)
		abort();
	return 0;
}
