/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from anybody: what is read is written so that it reads as the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_json json_t *value = NULL, *again = NULL, *third = NULL;
	struct bytes CLEANUP(bytes_finish) jcs = {0};
	autofree char *text = NULL, *same = NULL;
	struct error err;

	if (json_read((const char *)data, size, 1 << 16, &value, &err) < 0)
		return 0;
	text = json_text(value);
	if (json_read(text, strlen(text), 1 << 20, &again, &err) < 0 || !json_equal(value, again))
		abort();
	same = json_text(again);
	if (strcmp(text, same) != 0)
		abort();
	json_write_as(&jcs, value, JSON_JCS);
	if (json_read((const char *)jcs.data, jcs.len, 1 << 20, &third, &err) < 0 ||
		!json_equal(value, third))
		abort();
	return 0;
}
