/* SPDX-License-Identifier: Apache-2.0 */
/* Many replications side by side, each a process of its own. docs/howto/replicate. */
#ifndef REPLICATE_BATCH_H
#define REPLICATE_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "replicate/outcome.h"

enum { BATCH_JOBS_MAX = 64, BATCH_SIZE_MAX = 10000 };

/*
 * A claim of the batch: a directory with manifest.json, code/, data/ and image (a line
 * REF@sha256:...). What comes of it is put beside them: out/, record.json, log.jsonl.
 */
struct batch_job {
	char *name;
	bool was_done;	      /* by an earlier batch: the record was there */
	bool has_failed;      /* the operator's or the engine's fault: no record */
	enum outcome outcome; /* of one with a record */
	char detail[256];     /* reason, or what failed */
};

struct batch {
	struct batch_job *jobs; /* in order of names */
	size_t count;
};
void batch_finish(struct batch *b);
#define auto_batch CLEANUP(batch_finish)

struct batch_options {
	const char *dir;
	unsigned jobs;
	const char *const *options; /* what every replication is given besides, NULL-terminated */
	void (*told)(const struct batch_job *j); /* one has ended */
};

/*
 * Runs every claim below dir that has no record of this very manifest yet; an `out` that a killed
 * batch left is emptied. No failure of one stops another. Interrupted, it is -1, and goes on when
 * it is started again.
 */
MUST_CHECK int batch_run(const struct batch_options *o, struct batch *ret, struct error *err);

#endif
