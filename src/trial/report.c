/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and reports of trials: their defaults and their JSON. See trial.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "trial/trial.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND_NS UINT64_C(1000000000)

const char *trial_outcome_name(enum trial_outcome o)
{
	static const char *const names[TRIAL_OUTCOMES] = {
		[TRIAL_COMPLETED] = "completed",
		[TRIAL_SCENARIO_FAILED] = "scenario_failed",
		[TRIAL_LIMITS_EXCEEDED] = "limits_exceeded",
		[TRIAL_MATERIALIZATION_FAILED] = "materialization_failed",
		[TRIAL_CRASHED] = "crashed",
	};

	return names[o];
}

void trial_limits_init(struct trial_limits *l)
{
	*l = (struct trial_limits){
		.wall_ns = 120 * SECOND_NS,
		.memory = 2048 * MIB,
		.cpu_seconds = 125,
		.pids = 512,
		.max_files = 1024,
		.max_file_size = 256 * MIB,
		.max_disk = 256 * MIB,
		.max_output = 64 * MIB,
		.max_events = 2000,
	};
}

json_t *trial_limits_json(const struct trial_limits *l)
{
	json_t *o = json_object();

	json_put(o, "wall_clock_ms", json_u64(l->wall_ns / 1000000));
	json_put(o, "memory_bytes", json_u64(l->memory));
	json_put(o, "cpu_seconds", json_u64(l->cpu_seconds));
	json_put(o, "max_events", json_u64(l->max_events));
	json_put(o, "pids", json_u64(l->pids));
	json_put(o, "max_files", json_u64(l->max_files));
	json_put(o, "max_file_size", json_u64(l->max_file_size));
	json_put(o, "max_disk", json_u64(l->max_disk));
	json_put(o, "max_output", json_u64(l->max_output));
	json_put(o, "max_llm_calls", json_u64(l->max_llm_calls));
	return o;
}

void trial_report_finish(struct trial_report *r)
{
	for (size_t i = 0; i < r->warning_count; i++)
		free(r->warnings[i]);
	free(r->warnings);
	free(r->detail);
	*r = (struct trial_report){0};
}

json_t *trial_report_json(const struct trial_report *r)
{
	json_t *o = json_object(), *warnings = json_array();

	for (size_t i = 0; i < r->warning_count; i++)
		json_add(warnings, json_str(r->warnings[i]));
	json_put(o, "outcome", json_str(trial_outcome_name(r->outcome)));
	json_put(o, "fork_run_id", json_str(r->fork_run_id));
	json_put(o, "events_appended", json_u64(r->events_appended));
	json_put(o, "behavior_failures", json_u64(r->behavior_failures));
	json_put(o, "detail", json_str(r->detail ? r->detail : ""));
	json_put(o, "exit_code", r->has_exit_code ? json_integer(r->exit_code) : json_null());
	json_put(o, "warnings", warnings);
	json_put(o, "limits", trial_limits_json(&r->limits));
	return o;
}
