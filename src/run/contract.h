/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to the launch contract. */
#ifndef RUN_CONTRACT_H
#define RUN_CONTRACT_H

#include "base/attr.h"
#include "base/error.h"
#include "image/image.h"
#include "run/options.h"
#include "wire/contract.h"

/* What of the caller's situation decides the contract; run_contract_host reads it. */
struct contract_host {
	char *cwd;  /* absolute; owned */
	char *home; /* or NULL; owned */
	bool tty;   /* standard input and output are our foreground terminal */
	char cpu[80];
	const struct image *image; /* in use, or NULL; borrowed */
};

MUST_CHECK int contract_host_read(struct contract_host *ret, struct error *err);
void contract_host_finish(struct contract_host *h);
#define auto_contract_host CLEANUP(contract_host_finish)

/*
 * The contract of these options for this host, everything but the digests and standard input.
 * Reads directories that the options name, changes nothing. Warnings go to say.
 */
MUST_CHECK int contract_build(const struct run_options *o, const struct contract_host *h,
	struct contract *ret, run_say *say, struct error *err);

/* Whether contract_build can have made it: what comes with a tape may come from anybody. */
MUST_CHECK int contract_check_made(const struct contract *c, struct error *err);

#endif
