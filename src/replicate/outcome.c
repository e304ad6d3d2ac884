/* SPDX-License-Identifier: Apache-2.0 */
/* Outcomes and reasons: see outcome.h. */
#include "replicate/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const char *const outcome_names[OUTCOMES] = {
	"input_mismatch", "spec_issue", "not_reproduced", "reproduced"};

static const struct {
	const char *code, *meaning;
	enum outcome outcome;
} rows[FINDINGS] = {
#define X(name, code, outcome, meaning) {code, meaning, OUTCOME_##outcome},
#include "replicate/reason.def"
#undef X
};

const char *finding_code(enum finding f)
{
	return rows[f].code;
}

const char *finding_meaning(enum finding f)
{
	return rows[f].meaning;
}

enum outcome finding_outcome(enum finding f)
{
	return rows[f].outcome;
}

enum finding finding_find(const char *code)
{
	enum finding f = 0;

	while (f < FINDINGS && strcmp(rows[f].code, code) != 0)
		f++;
	return f;
}

void findings_init(struct findings *f)
{
	*f = (struct findings){.list = json_array(), .worst = FINDINGS};
}

void findings_finish(struct findings *f)
{
	json_decref(f->list);
	*f = (struct findings){0};
}

void findings_add(struct findings *f, enum finding what, unsigned run, const char *fmt, ...)
{
	autofree char *text = NULL, *safe = NULL;
	json_t *o;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	safe = str_printable(text, strlen(text), sizeof(f->detail) - 16);
	f->count++;
	if (f->worst == FINDINGS || rows[what].outcome < rows[f->worst].outcome) {
		f->worst = what;
		snprintf(f->detail, sizeof(f->detail), "%s", safe);
	}
	if (json_array_size(f->list) == FINDINGS_MAX)
		return;
	o = json_object();
	json_put(o, "code", json_str(rows[what].code));
	json_put(o, "detail", json_str(safe));
	json_put(o, "run", run ? json_u64(run) : json_null());
	json_add(f->list, o);
}
