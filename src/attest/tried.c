/* SPDX-License-Identifier: Apache-2.0 */
/* The receipt of a trial: see tried.h. */
#include "attest/tried.h"

#include <string.h>

#include "attest/envelope.h"

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
	return true;
}
