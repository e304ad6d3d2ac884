/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One replication: a manifest, its verified inputs, the entrypoint in a sandbox, the numbers held
 * against the claim. docs/howto/replicate.
 */
#ifndef REPLICATE_REPLICATE_H
#define REPLICATE_REPLICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "replicate/claim.h"
#include "replicate/inputs.h"
#include "replicate/outcome.h"

enum { REPLICATE_REPEAT_MAX = 1000 };

/* As the command line gives them; all borrowed. */
struct replicate_options {
	const char *manifest, *code, *data, *out;
	const char *image;   /* REF@sha256:... */
	const char *rootfs;  /* native: a directory in the place of the image's; or NULL */
	const char *runtime; /* NULL: native */
	const char *job_id, *log, *record;
	const char *version; /* of this program */
	bool is_deterministic, allows_extra_data, is_dry;
	bool has_host_programs; /* native: the host's own in the place of an image's */
	uint64_t repeat;	/* 0: once */
	inputs_progress *progress;
};

/* What came of it; owned: replication_finish. */
struct replication {
	json_t *record; /* NULL when nothing was run because only the command was asked for */
	char *command;	/* of a dry run whose inputs are right */
	enum outcome outcome;
	char reason[512]; /* the reason in words */
};
void replication_finish(struct replication *r);
#define auto_replication CLEANUP(replication_finish)

/*
 * -1: the operator's or the engine's fault, of which nothing follows for the claim; faults has
 * every violation of the manifest's format, if that is what it is.
 */
MUST_CHECK int replicate(const struct replicate_options *o, struct replication *ret,
	struct violations *faults, struct error *err);

#endif
