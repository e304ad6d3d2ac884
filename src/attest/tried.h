/* SPDX-License-Identifier: Apache-2.0 */
/* What is signed about a trial: its report, and which bytes were tried on which fork. */
#ifndef ATTEST_TRIED_H
#define ATTEST_TRIED_H

#include "attest/verdict.h"
#include "codec/json.h"

#define TRIED_FORMAT "sandglass.trial-receipt/1"

/*
 * The statement; the caller owns it. pins: the bundle hashes in the order of loading, the
 * candidate's last (taken). run is the parent; at and scenario may be NULL.
 */
json_t *tried_statement(
	const json_t *report, json_t *pins, const char *run, const char *at, const char *scenario);
/* Of a statement from anybody: false, and `malformed`, when it is none. */
bool tried_check(const json_t *statement, struct verdict *v);

#endif
