/* SPDX-License-Identifier: Apache-2.0 */
/* What an exploration found, as text and as JSON: docs/format/explore. */
#ifndef RUN_EXPLORED_H
#define RUN_EXPLORED_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "run/attempt.h"

struct explored {
	size_t runs;		    /* seeds tried, or to be tried */
	uint64_t seed;		    /* the lowest that changes something; 0: none */
	const struct attempt *base; /* the run by the rule */
	const struct attempt *bad;  /* of the seed, or of the fewest switches */
	const struct contract_switch *switches;
	size_t switch_count, forced; /* the fewest; how many the seed made */
	bool is_shrunk;	     /* false: the switches alone do not do it again, only the seed */
	bool has_file;	     /* standard input is a file that the user has to give again */
	const char *options; /* those of run, as a shell takes them, each with a space after */
	char **argv;
};

/* Both results are the caller's. */
MUST_CHECK int explored_text(const struct explored *e, char **ret, struct error *err);
MUST_CHECK int explored_json(const struct explored *e, json_t **ret, struct error *err);
/* One word as a POSIX shell takes it (caller frees). */
char *explored_quote(const char *word);

#endif
