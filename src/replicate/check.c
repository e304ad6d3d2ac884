/* SPDX-License-Identifier: Apache-2.0 */
/* Checking records from anybody: see record.h. */
#include "replicate/record.h"

#include <math.h>
#include <string.h>

#include "attest/envelope.h"
#include "base/mem.h"
#include "base/num.h"
#include "replicate/compare.h"

static const json_t *get(const json_t *o, const char *name)
{
	return json_object_get(o, name);
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(get(o, name));

	return s ? s : "";
}

static bool take_real(const json_t *v, double *ret)
{
	const char *s = json_string_value(v);

	return s && num_parse_real(s, ret, NULL) == 0;
}

static bool read_tolerance(const json_t *o, struct tolerance *t)
{
	const json_t *pair = get(o, tolerance_names[TOLERANCE_INTERVAL]);

	if (json_object_size(o) != 1)
		return false;
	*t = (struct tolerance){.kind = TOLERANCE_INTERVAL};
	if (pair)
		return json_array_size(pair) == 2 && take_real(json_array_get(pair, 0), &t->low) &&
		       take_real(json_array_get(pair, 1), &t->high);
	t->kind = get(o, tolerance_names[TOLERANCE_ABSOLUTE]) ? TOLERANCE_ABSOLUTE
							      : TOLERANCE_RELATIVE;
	return take_real(get(o, tolerance_names[t->kind]), &t->high);
}

/* The verdict of a target as its own numbers give it, or NULL when they are none. */
static const char *verdict_of(const json_t *target, size_t runs)
{
	const json_t *values = get(target, "values");
	const char *verdict = "within";
	struct tolerance t;
	double claimed, value;

	if (!take_real(get(target, "claimed"), &claimed) ||
		!read_tolerance(get(target, "tolerance"), &t) || json_array_size(values) != runs)
		return NULL;
	for (size_t i = 0; i < runs; i++) {
		const json_t *one = json_array_get(values, i);

		if (json_is_null(one)) {
			verdict = "missing";
			continue;
		}
		if (!take_real(one, &value))
			return NULL;
		if (!compare_is_within(claimed, &t, value) && strcmp(verdict, "within") == 0)
			verdict = "outside";
	}
	return verdict;
}

static const char *check_targets(const json_t *s, struct verdict *v)
{
	const char *worst = "reproduced";
	const json_t *targets = get(s, "targets");

	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *one = json_array_get(targets, i);
		const char *is = verdict_of(one, json_array_size(get(s, "runs")));

		if (!is) {
			verdict_add(v, VERDICT_MALFORMED, "target %zu has no numbers", i + 1);
			return NULL;
		}
		if (strcmp(is, text_of(one, "verdict")) != 0)
			verdict_add(v, VERDICT_CONTRADICTION, "target '%s' says %s, and is %s",
				text_of(one, "name"), text_of(one, "verdict"), is);
		if (strcmp(is, "within") != 0)
			worst = "not_reproduced";
	}
	return worst;
}

/* Numbers are of runs that ended by themselves, with 0, and had them among their results. */
static void check_runs(const json_t *s, struct verdict *v)
{
	const json_t *runs = get(s, "runs"), *targets = get(s, "targets");
	size_t count = json_array_size(runs);

	if (json_array_size(targets) > 0 && count == 0)
		verdict_add(v, VERDICT_CONTRADICTION, "it has targets, and no runs");
	for (size_t i = 0; i < count * json_array_size(targets); i++) {
		const json_t *run = json_array_get(runs, i % count), *end = get(run, "end");
		const json_t *target = json_array_get(targets, i / count), *code = get(end, "code"),
			     *is = get(get(run, "results"), text_of(target, "name")),
			     *says = json_array_get(get(target, "values"), i % count);

		if (strcmp(text_of(end, "how"), "exited") != 0 || !json_is_integer(code) ||
			json_integer_value(code) != 0)
			verdict_add(v, VERDICT_CONTRADICTION,
				"run %zu did not end well, and has values", i % count + 1);
		else if (is ? !json_equal(is, says) : !json_is_null(says))
			verdict_add(v, VERDICT_CONTRADICTION,
				"target '%s' has another value than the results of run %zu",
				text_of(target, "name"), i % count + 1);
	}
}

static void check_contract(const json_t *s, struct verdict *v)
{
	autofree char *text = json_text(get(s, "contract"));
	char digest[DIGEST_TEXT];

	digest_of(text, strlen(text), digest);
	if (strcmp(digest, text_of(s, "contract_digest")) != 0)
		verdict_add(v, VERDICT_CONTRACT_DIGEST_WRONG, "it says %s, and is %s",
			text_of(s, "contract_digest"), digest);
}

/* The outcome is that of the reason, and of the worst finding. */
static void check_outcome(const json_t *s, const char *of_targets, struct verdict *v)
{
	const char *outcome = text_of(s, "outcome");
	enum finding reason = finding_find(text_of(get(s, "reason"), "code"));
	enum outcome worst = OUTCOME_REPRODUCED;
	bool has_targets = json_array_size(get(s, "targets")) > 0;

	if (reason == FINDINGS || strcmp(outcome_names[finding_outcome(reason)], outcome) != 0)
		verdict_add(v, VERDICT_CONTRADICTION,
			"the outcome '%s' is not that of the reason '%s'", outcome,
			text_of(get(s, "reason"), "code"));
	for (size_t i = 0; i < json_array_size(get(s, "findings")); i++) {
		enum finding f =
			finding_find(text_of(json_array_get(get(s, "findings"), i), "code"));

		if (f == FINDINGS)
			verdict_add(v, VERDICT_MALFORMED, "a finding of no known code");
		else if (finding_outcome(f) < worst)
			worst = finding_outcome(f);
	}
	if (strcmp(outcome, outcome_names[worst]) != 0)
		verdict_add(v, VERDICT_CONTRADICTION,
			"the outcome is '%s', the worst finding says '%s'", outcome,
			outcome_names[worst]);
	if (worst >= OUTCOME_NOT_REPRODUCED && (!has_targets || strcmp(outcome, of_targets) != 0))
		verdict_add(v, VERDICT_CONTRADICTION, "the outcome is '%s', the targets say '%s'",
			outcome, has_targets ? of_targets : "nothing");
}

void record_check(const json_t *s, struct verdict *v)
{
	static const struct statement_member rows[] = {{"claim", JSON_OBJECT, false},
		{"contract", JSON_OBJECT, false}, {"contract_digest", JSON_STRING, false},
		{"findings", JSON_ARRAY, false}, {"format", JSON_STRING, false},
		{"inputs", JSON_OBJECT, false}, {"isolation", JSON_OBJECT, true},
		{"job_id", JSON_STRING, true}, {"outcome", JSON_STRING, false},
		{"reason", JSON_OBJECT, false}, {"runs", JSON_ARRAY, false},
		{"targets", JSON_ARRAY, false}, {"version", JSON_STRING, false}, {0}};
	const char *of_targets;

	if (!statement_check(s, "the record", rows, v))
		return;
	check_contract(s, v);
	of_targets = check_targets(s, v);
	if (!of_targets)
		return;
	check_runs(s, v);
	check_outcome(s, of_targets, v);
}
