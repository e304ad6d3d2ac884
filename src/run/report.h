/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: JSON sandglass.run/1, docs/format/report. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "run/difference.h"
#include "run/inputs.h"
#include "run/one.h"

struct report {
	const struct contract *contract;
	const struct inputs *inputs;
	const struct one_result *first;
	const struct decisions *decisions;
	const char *tape;		     /* where the recording is, or NULL */
	const char *tree;		     /* digest of what the guest wrote, or NULL */
	int runs;			     /* 1, or 2 when verified */
	const struct difference *difference; /* of two runs; NULL with one */
	int status;			     /* what the program exits with */
};

/* The caller owns the value. */
json_t *report_json(const struct report *r);
/* Into a new file that takes the name only when it is whole. */
MUST_CHECK int report_write(const char *path, const char *text, struct error *err);

#endif
