/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest of a claim from anybody: taken whole or refused with a reason. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "replicate/claim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_claim struct claim c = {0};
	auto_violations struct violations v = {0};
	struct error err = {0};

	if (claim_parse((const char *)data, size, &c, &v, &err) < 0) {
		if (!err.msg[0])
			abort();
	} else if (v.count > 0 || c.target_count == 0 || !c.entrypoint || !c.id) {
		abort();
	}
	return 0;
}
