/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt of a trial: see tried.h. */
#include "attest/tried.h"

#include <string.h>

#include "attest/envelope.h"
#include "base/attr.h"
#include "base/str.h"
#include "cas/cas.h"

json_t *tried_statement(
	const json_t *report, json_t *pins, const char *run, const char *at, const char *scenario)
{
	json_t *o = json_object();

	json_put(o, "at", at ? json_str(at) : json_null());
	json_put(o, "format", json_str(TRIED_FORMAT));
	json_put(o, "packs", pins);
	json_put(o, "report", json_deep_copy(report));
	json_put(o, "run", json_str(run));
	json_put(o, "scenario", scenario ? json_str(scenario) : json_null());
	return o;
}

/* Of a trial that completed, every program ended by itself with 0, and was the one of its hash. */
static void check_completed(const json_t *o, const json_t *report, struct verdict *v)
{
	const json_t *code = json_object_get(report, "exit_code"), *pin;
	size_t i;

	if (!json_is_integer(code) || json_integer_value(code) != 0)
		verdict_add(v, VERDICT_CONTRADICTION, "completed, and the status is not 0");
	if (json_array_size(json_object_get(o, "packs")) == 0)
		verdict_add(v, VERDICT_CONTRADICTION, "completed, and nothing was tried");
	json_array_foreach(json_object_get(o, "packs"), i, pin)
	{
		char digest[DIGEST_TEXT];
		const char *text = json_string_value(pin);

		if (!str_has_prefix(text, "sha256:") || !cas_digest_find(text, digest))
			verdict_add(v, VERDICT_CONTRADICTION, "completed with a hash that is none");
	}
}

static void check_report(const json_t *o, const json_t *report, struct verdict *v)
{
	static const char *const outcomes[] = {"completed", "scenario_failed", "limits_exceeded",
		"materialization_failed", "crashed"};
	const char *outcome = json_string_value(json_object_get(report, "outcome"));
	json_int_t events = json_integer_value(json_object_get(report, "events_appended")),
		   failures = json_integer_value(json_object_get(report, "behavior_failures"));
	size_t i = 0;

	while (i < ARRAY_LEN(outcomes) && strcmp(outcome, outcomes[i]) != 0)
		i++;
	if (i == ARRAY_LEN(outcomes))
		verdict_add(v, VERDICT_MALFORMED, "an outcome that there is not");
	if (failures < 0 || failures > events)
		verdict_add(v, VERDICT_CONTRADICTION, "more failures than events");
	if (i == 0)
		check_completed(o, report, v);
}

bool tried_check(const json_t *o, struct verdict *v)
{
	static const struct statement_member rows[] = {{"at", JSON_STRING, true},
		{"format", JSON_STRING, false}, {"packs", JSON_ARRAY, false},
		{"report", JSON_OBJECT, false}, {"run", JSON_STRING, false},
		{"scenario", JSON_STRING, true}, {0}};
	static const struct statement_member report[] = {{"outcome", JSON_STRING, false},
		{"fork_run_id", JSON_STRING, false}, {"events_appended", JSON_INTEGER, false},
		{"behavior_failures", JSON_INTEGER, false}, {"detail", JSON_STRING, false},
		{"exit_code", JSON_INTEGER, true}, {"warnings", JSON_ARRAY, false},
		{"limits", JSON_OBJECT, false}, {0}};
	const json_t *pin;
	size_t i;

	if (!statement_check(o, "the receipt of a trial", rows, v) ||
		!statement_check(json_object_get(o, "report"), "the report of a trial", report, v))
		return false;
	json_array_foreach(json_object_get(o, "packs"), i, pin) if (!json_is_string(pin))
	{
		verdict_add(v, VERDICT_MALFORMED, "a pack's hash in it is no string");
		return false;
	}
	check_report(o, json_object_get(o, "report"), v);
	return true;
}
