/* SPDX-License-Identifier: Apache-2.0 */
/* Which of four things a replication found, and why. */
#ifndef REPLICATE_OUTCOME_H
#define REPLICATE_OUTCOME_H

#include "base/attr.h"
#include "codec/json.h"

/* The worst first: of several findings the first kind counts. */
enum outcome {
	OUTCOME_INPUT_MISMATCH,
	OUTCOME_SPEC_ISSUE,
	OUTCOME_NOT_REPRODUCED,
	OUTCOME_REPRODUCED,
	OUTCOMES
};
extern const char *const outcome_names[OUTCOMES];

/* In the order in which they count. */
enum finding {
#define X(name, code, outcome, meaning) FINDING_##name,
#include "replicate/reason.def"
#undef X
	FINDINGS
};

const char *finding_code(enum finding f);
const char *finding_meaning(enum finding f);
enum outcome finding_outcome(enum finding f);
/* FINDINGS when there is none of that code. */
enum finding finding_find(const char *code);

/* What was found so far; the first of the worst kind is the reason. */
struct findings {
	json_t *list; /* of {code, detail, run}, at most FINDINGS_MAX; run: null or from 1 */
	size_t count;
	enum finding worst; /* FINDINGS: none yet */
	char detail[256];
};
enum { FINDINGS_MAX = 100 };
void findings_init(struct findings *f);
void findings_finish(struct findings *f);
#define auto_findings CLEANUP(findings_finish)
/* run: 0 when it is about none. The detail may be longer than is kept. */
void findings_add(struct findings *f, enum finding what, unsigned run, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

#endif
