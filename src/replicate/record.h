/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a replication, made and checked: docs/format/replication-record. */
#ifndef REPLICATE_RECORD_H
#define REPLICATE_RECORD_H

#include <stddef.h>

#include "attest/verdict.h"
#include "codec/json.h"
#include "replicate/claim.h"
#include "replicate/outcome.h"
#include "replicate/results.h"
#include "replicate/runtime.h"

#define RECORD_FORMAT "sandglass.replication-record/1"

/* What a record is made of; all borrowed. */
struct record {
	const struct claim *claim;
	const char *version, *job_id; /* job_id may be NULL */
	const char *image;	      /* the reference */
	const char *runtime;
	const struct isolation *isolation;
	bool is_deterministic, allows_extra_data;
	unsigned repeat;
	const json_t *code, *data; /* as found */
	const json_t *runs;	   /* of record_run */
	const json_t *targets;	   /* of record_targets, or NULL: none was looked at */
	const struct findings *findings;
};

/* One run as an object; the caller owns it. outputs is borrowed, results too (may be NULL). */
json_t *record_run(const struct execution *e, const json_t *outputs, const struct results *results);
/*
 * Every target with its value in each of the runs, and what follows for the claim, which goes into
 * findings. The caller owns it.
 */
json_t *record_targets(
	const struct claim *c, const struct results *runs, size_t count, struct findings *findings);
/* The whole; it holds no time and no path of the host. The caller owns it. */
json_t *record_json(const struct record *r);

/*
 * A record from anybody: its members, and whether it agrees with itself - each verdict is computed
 * again from value, claim and tolerance.
 */
void record_check(const json_t *statement, struct verdict *v);

#endif
