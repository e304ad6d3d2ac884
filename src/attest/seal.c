/* SPDX-License-Identifier: Apache-2.0 */
/* A signed head of the audit chain: see seal.h. */
#include "attest/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attest/envelope.h"
#include "base/num.h"

/* Numbers are decimal strings: they may pass what RFC 8785 lets an integer be. */
static json_t *decimal(uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	return json_str(text);
}

json_t *seal_statement(const struct audit_head *h)
{
	json_t *o = json_object();

	json_put(o, "count", decimal(h->count));
	json_put(o, "file", json_str(h->file));
	json_put(o, "format", json_str(SEAL_FORMAT));
	json_put(o, "hmac", json_str(h->hmac));
	json_put(o, "size", decimal(h->size));
	return o;
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

bool seal_parse(const json_t *o, struct audit_head *ret, struct verdict *v)
{
	static const struct statement_member rows[] = {{"count", JSON_STRING, false},
		{"file", JSON_STRING, false}, {"format", JSON_STRING, false},
		{"hmac", JSON_STRING, false}, {"size", JSON_STRING, false}, {0}};
	struct audit_head h = {0};

	if (!statement_check(o, "the seal", rows, v))
		return false;
	if (strcmp(text_of(o, "format"), SEAL_FORMAT) != 0) {
		verdict_add(v, VERDICT_UNKNOWN_STATEMENT, "'%s' is no seal of an audit log",
			text_of(o, "format"));
		return false;
	}
	if (strlen(text_of(o, "file")) != AUDIT_FILE_SIZE - 1 ||
		strlen(text_of(o, "hmac")) != DIGEST_HEX - 1 ||
		num_parse_u64(text_of(o, "count"), UINT64_MAX, &h.count, NULL) < 0 ||
		num_parse_u64(text_of(o, "size"), UINT64_MAX, &h.size, NULL) < 0) {
		verdict_add(v, VERDICT_MALFORMED, "a member of the seal has not its form");
		return false;
	}
	memcpy(h.file, text_of(o, "file"), sizeof(h.file));
	memcpy(h.hmac, text_of(o, "hmac"), sizeof(h.hmac));
	*ret = h;
	return true;
}
