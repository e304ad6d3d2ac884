/* SPDX-License-Identifier: Apache-2.0 */
/* A tape to be replayed: its contract again, held against this host; and how its run ended. */
#ifndef RUN_REPLAY_H
#define RUN_REPLAY_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "oci/oci.h"
#include "run/image.h"
#include "run/inputs.h"
#include "run/one.h"
#include "run/options.h"
#include "run/stdin.h"
#include "tape/tape.h"
#include "wire/contract.h"

struct replay {
	struct tape_reader *reader;    /* owned */
	const struct oci_image *given; /* the runtime's that it is to have, or NULL; borrowed */
	struct run_image image;	       /* whose digest the contract names; store NULL: none */
	json_t *header, *outcome;      /* owned; outcome NULL: the tape was cut */
	char *mismatch; /* what is not as it was, and was overridden; owned, or NULL */
};

void replay_finish(struct replay *r);

/* The header's JSON (the caller owns it): ERR_FORMAT when it is none. */
MUST_CHECK int replay_header(const struct tape_reader *r, json_t **ret, struct error *err);
/* The outcome that a whole tape ends with (the caller owns it); 0 and NULL when there is none. */
MUST_CHECK int replay_outcome(struct tape_reader *r, json_t **ret, struct error *err);

/*
 * Opens the tape and fills the contract, the digests and standard input. What differs from the
 * recording (architecture, CPU, digests of directories, binds, programs) is refused, or noted in
 * `mismatch` when the options override it.
 */
MUST_CHECK int replay_open(struct replay *r, const struct run_options *o, struct contract *ret,
	struct inputs *ret_inputs, struct stdin_source *ret_in, struct error *err);
/* After the run: what ended otherwise than recorded (caller frees), or NULL. */
char *replay_compare(
	const struct replay *r, const struct one_result *one, const struct decisions *d);

#endif
