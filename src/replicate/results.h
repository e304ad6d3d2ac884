/* SPDX-License-Identifier: Apache-2.0 */
/* results.json, which an analysis that nobody trusts has written: names and finite numbers. */
#ifndef REPLICATE_RESULTS_H
#define REPLICATE_RESULTS_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

enum {
	RESULTS_MAX = 1 << 20, /* bytes of the file */
	RESULTS_COUNT_MAX = 16384,
};
#define RESULTS_NAME "results.json"

struct result {
	char *name;
	double value;
};
/* Sorted by name. */
struct results {
	struct result *items;
	size_t count;
};

void results_finish(struct results *r);
#define auto_results CLEANUP(results_finish)

/*
 * One JSON object of names and finite numbers, no name twice. ERR_FORMAT says what is wrong,
 * ERR_LIMIT what is too much.
 */
MUST_CHECK int results_parse(const char *text, size_t len, struct results *ret, struct error *err);
/*
 * The regular file of that name in the directory, nothing followed and no fifo waited for.
 * ERR_MISSING when there is none.
 */
MUST_CHECK int results_read(int dir, struct results *ret, struct error *err);
/* Borrowed, or NULL. */
const double *results_find(const struct results *r, const char *name);

#endif
