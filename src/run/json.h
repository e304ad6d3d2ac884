/* SPDX-License-Identifier: Apache-2.0 */
/* The contract as canonical JSON (docs/format/contract), whose SHA-256 names it. */
#ifndef RUN_JSON_H
#define RUN_JSON_H

#include "codec/json.h"
#include "run/inputs.h"
#include "wire/contract.h"

/* The caller owns the value. */
json_t *contract_json(const struct contract *c, const struct inputs *in);
/* SHA-256 of the canonical bytes of a value. */
void json_digest(const json_t *value, char ret[DIGEST_TEXT]);

#endif
