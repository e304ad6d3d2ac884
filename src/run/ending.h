/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended: the status to exit with, and the lines that explain it. */
#ifndef RUN_ENDING_H
#define RUN_ENDING_H

#include "run/difference.h"
#include "run/one.h"
#include "run/options.h"
#include "wire/contract.h"

/* All of it borrowed. */
struct ending {
	const struct run_options *o;
	const struct contract *contract;
	const struct one_result *first, *second; /* second: as it was made when there was none */
	const struct difference *difference;	 /* NULL: the two were not compared */
	const char *parted;			 /* where a replay parted from its tape, or NULL */
};

/* By precedence: 125 > 124 > 123 > 122 > 121 > the guest's. */
int ending_status(const struct ending *e);
/* status: what ending_status gave. */
void ending_say(const struct ending *e, int status, run_say *say);

#endif
