/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the audit log from anybody: a record that is one is written as one text. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/inside.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_line(const json_t *record, struct bytes *out)
{
	struct audit_text CLEANUP(audit_text_finish) t = {0};

	audit_text_write(&t, record);
	audit_text_line(&t, json_string_value(json_object_get(record, "hmac")), out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_json json_t *record = NULL, *again = NULL;
	struct bytes CLEANUP(bytes_finish) line = {0}, same = {0};
	struct error err;

	if (json_read((const char *)data, size, 1 << 16, &record, &err) < 0 ||
		audit_record_fault(record))
		return 0;
	write_line(record, &line);
	if (json_read((const char *)line.data, line.len - 1, 1 << 20, &again, &err) < 0 ||
		audit_record_fault(again) || !json_equal(record, again))
		abort();
	write_line(again, &same);
	if (same.len != line.len || memcmp(same.data, line.data, line.len) != 0)
		abort();
	return 0;
}
