/* SPDX-License-Identifier: Apache-2.0 */
/* A LAUNCH frame from anybody: what is taken encodes to the same bytes but for spare truths. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/json.h"
#include "wire/contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_contract struct contract c = {0}, again = {0};
	auto_conditions struct conditions k = {0}, kagain = {0};
	auto_bytes struct bytes first = {0}, second = {0};
	struct error err;

	if (contract_decode(data, size, &c, &k, &err) < 0)
		return 0;
	contract_encode(&first, &c, &k);
	if (contract_decode(first.data, first.len, &again, &kagain, &err) < 0)
		abort();
	contract_encode(&second, &again, &kagain);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	return 0;
}
