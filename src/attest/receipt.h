/* SPDX-License-Identifier: Apache-2.0 */
/* What is signed about a run, and how it is checked by somebody else: docs/format/receipt. */
#ifndef ATTEST_RECEIPT_H
#define ATTEST_RECEIPT_H

#include "attest/verdict.h"
#include "cas/cas.h"
#include "codec/json.h"

#define RECEIPT_FORMAT "sandglass.run-receipt/1"

/*
 * The statement about the run of this report (sandglass.run/1). It holds no time, host or name of
 * ours: the same run gives the same bytes. The caller owns it.
 */
json_t *receipt_statement(const json_t *report);

/* The contract that the statement holds as text, or NULL when that is no JSON; caller owns it. */
json_t *receipt_contract(const json_t *statement);

/* Members, types, the contract's digest, what cannot both be true. False: do not go on. */
bool receipt_check(const json_t *statement, struct verdict *v);
/*
 * Every digest whose object is at hand is computed again: programs under their paths, outputs and
 * tape in the store (may be NULL).
 */
void receipt_check_objects(const json_t *statement, struct cas *store, struct verdict *v);
/* What another run of the same contract gave, by its report. */
void receipt_compare(const json_t *statement, const json_t *report, struct verdict *v);

#endif
