/* SPDX-License-Identifier: Apache-2.0 */
/* Signed files and key sets from anybody: no crash, and nothing unsigned is ever called verified.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attest/envelope.h"
#include "attest/keyring.h"
#include "attest/receipt.h"
#include "attest/seal.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const char *text, size_t len, const json_t *jwks)
{
	struct envelope_anchor anchor = {.jwks = jwks};
	struct verdict CLEANUP(verdict_finish) v;
	struct envelope CLEANUP(envelope_finish) e = {0};
	struct audit_head head;

	verdict_init(&v);
	/* No key of the corpus is known here, so every anchored file has to fail. */
	if (envelope_open(text, len, &anchor, &e, &v)) {
		receipt_check(e.statement, &v);
		seal_parse(e.statement, &head, &v);
	}
	if (v.worst == VERDICT_VERIFIED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_json json_t *value = NULL;
	struct key_public p;
	struct error err;

	if (json_read((const char *)data, size, 1 << 16, &value, &err) == 0 &&
		json_is_object(value) && jwks_find(value, "", &p, &err) == 1)
		abort(); /* no key has that name */
	look((const char *)data, size, NULL);
	look((const char *)data, size, value);
	return 0;
}
