/* SPDX-License-Identifier: Apache-2.0 */
/* What `sandglass run` was asked to do, as the command line gives it; all of it borrowed. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/contract.h"

/* The values of an option that may be given more than once, in the order given. */
struct run_list {
	const char **items;
	size_t count;
};

struct run_options {
	char **argv;	     /* NULL-terminated: the command */
	const char *runtime; /* who makes the container of an image */
	const char *rootfs, *image, *user, *entrypoint, *workdir, *out, *workflow_id, *report,
		*receipt, *network, *epoch;
	const char *switches, *trace;
	const char *record;  /* where the tape goes */
	const char *journal; /* the same, for sandglass resume */
	const char *tape;    /* replayed: the command and all that decides it come from there */
	struct run_list bind_ro, bind, env;
	uint64_t clock_step_ns, sched_seed, timers_after_ns;
	uint64_t memory, pids, timeout_ns; /* 0: not given */
	bool allow_tag;			   /* an image without a digest */
	bool verify, digest_inputs, no_determinism, print_contract, dry_run, json;
	bool resume;	  /* the tape is a journal: the run goes on where it ends */
	bool input_again; /* and standard input begins with what it holds */
	bool draw;	  /* it says nothing, and a page that shows it goes to standard output */
	bool override;	  /* replay on a host that differs from the tape's */
};

/* Receives one line for the user, without prefix and newline. Called between any two events. */
typedef void run_say(const char *line);

/* Before the guest runs, for that may take long: what cannot be done in the end is told at once, as
 * ERR_USAGE or the system's error. image: the digest of the contract's, or "". */
MUST_CHECK int options_check(const struct run_options *o, const struct contract *c,
	const char *image, struct error *err);

#endif
