/* SPDX-License-Identifier: Apache-2.0 */
/* How far an audit chain went, signed, so that it can be kept where the chain is not. */
#ifndef ATTEST_SEAL_H
#define ATTEST_SEAL_H

#include "attest/verdict.h"
#include "audit/audit.h"
#include "codec/json.h"

#define SEAL_FORMAT "sandglass.audit-head/1"

/* The statement; the caller owns it. */
json_t *seal_statement(const struct audit_head *h);
/* Of a statement from anybody: false, and `malformed`, when it is none. */
bool seal_parse(const json_t *statement, struct audit_head *ret, struct verdict *v);

#endif
