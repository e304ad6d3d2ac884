/* SPDX-License-Identifier: Apache-2.0 */
/* Making records: see record.h. Numbers are decimal strings, since no format of ours has floats. */
#include "replicate/record.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "replicate/compare.h"

static json_t *real(double v)
{
	char text[NUM_REAL_SIZE];

	if (!isfinite(v))
		return json_null();
	num_format_real(text, v);
	return json_str(text);
}

static json_t *text_or_null(const char *s)
{
	return s ? json_str(s) : json_null();
}

static json_t *stream(uint64_t bytes, const char *digest)
{
	json_t *o = json_object();

	json_put(o, "bytes", json_u64(bytes));
	json_put(o, "sha256", json_str(digest));
	return o;
}

static json_t *end_json(const struct execution *e)
{
	static const char *const names[] = {[END_EXITED] = "exited",
		[END_SIGNALLED] = "signalled",
		[END_OOM] = "out_of_memory",
		[END_TIMED_OUT] = "timed_out",
		[END_NOT_STARTED] = "not_started",
		[END_DEADLOCKED] = "deadlocked"};
	json_t *o = json_object();

	json_put(o, "how", json_str(names[e->end]));
	json_put(o, "code", e->end == END_EXITED ? json_u64((uint64_t)e->code) : json_null());
	json_put(
		o, "signal", e->end == END_SIGNALLED ? json_u64((uint64_t)e->signal) : json_null());
	return o;
}

json_t *record_run(const struct execution *e, const json_t *outputs, const struct results *results)
{
	json_t *o = json_object(), *values = json_object();

	json_put(o, "end", end_json(e));
	json_put(o, "stdout", stream(e->out_bytes, e->out));
	json_put(o, "stderr", stream(e->err_bytes, e->err));
	json_put(o, "outputs", json_incref((json_t *)(uintptr_t)outputs));
	json_put(o, "enforced", e->reasons ? json_boolean(e->is_enforced) : json_null());
	json_put(o, "not_enforced", e->reasons ? json_incref(e->reasons) : json_array());
	for (size_t i = 0; results && i < results->count; i++)
		json_put(values, results->items[i].name, real(results->items[i].value));
	json_put(o, "results", values);
	return o;
}

static json_t *tolerance_json(const struct tolerance *t)
{
	json_t *o = json_object(), *value;

	if (t->kind == TOLERANCE_INTERVAL) {
		value = json_array();
		json_add(value, real(t->low));
		json_add(value, real(t->high));
	} else {
		value = real(t->high);
	}
	json_put(o, tolerance_names[t->kind], value);
	return o;
}

static json_t *spread_json(const double *values, size_t count)
{
	struct spread s = compare_spread(values, count);
	json_t *o = json_object();

	json_put(o, "min", real(s.min));
	json_put(o, "max", real(s.max));
	json_put(o, "width", real(s.width));
	json_put(o, "stable", json_boolean(s.is_stable));
	return o;
}

/* "within", "outside" or "missing": the worst of all runs. */
static json_t *target_json(const struct claim_target *t, const struct results *runs, size_t count,
	struct findings *findings)
{
	autofree double *found = mem_array(count, sizeof(*found));
	json_t *o = json_object(), *values = json_array(), *differences = json_array();
	const char *verdict = "within";
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const double *value = results_find(&runs[i], t->name);
		unsigned run = (unsigned)i + 1;

		json_add(values, value ? real(*value) : json_null());
		json_add(differences, value ? real(*value - t->value) : json_null());
		if (!value) {
			verdict = "missing";
			findings_add(findings, FINDING_TARGET_MISSING, run, "%s", t->name);
			continue;
		}
		found[n++] = *value;
		if (compare_is_within(t->value, &t->tolerance, *value))
			continue;
		if (strcmp(verdict, "within") == 0)
			verdict = "outside";
		findings_add(findings, FINDING_TARGET_OUTSIDE, run, "%s: %.17g, claimed %.17g",
			t->name, *value, t->value);
	}
	json_put(o, "name", json_str(t->name));
	json_put(o, "claimed", real(t->value));
	json_put(o, "unit", text_or_null(t->unit));
	json_put(o, "tolerance", tolerance_json(&t->tolerance));
	json_put(o, "values", values);
	json_put(o, "differences", differences);
	json_put(o, "verdict", json_str(verdict));
	json_put(o, "spread", n > 0 ? spread_json(found, n) : json_null());
	return o;
}

json_t *record_targets(
	const struct claim *c, const struct results *runs, size_t count, struct findings *findings)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->target_count; i++)
		json_add(list, target_json(&c->targets[i], runs, count, findings));
	return list;
}

static json_t *limits_json(const struct claim_limits *l)
{
	json_t *o = json_object();

	json_put(o, "timeout_seconds", json_u64(l->timeout_ns / NUM_SECOND_NS));
	json_put(o, "memory", json_u64(l->memory_bytes));
	json_put(o, "cpus_milli", json_u64(l->cpus_milli));
	json_put(o, "pids", json_u64(l->pids));
	json_put(o, "tmp_bytes", json_u64(l->tmp_bytes));
	json_put(o, "tmp_files", json_u64(l->tmp_files));
	json_put(o, "output_bytes", json_u64(l->output_bytes));
	json_put(o, "output_files", json_u64(l->output_files));
	return o;
}

/* All that decides what the analysis is given. */
static json_t *contract_json(const struct record *r)
{
	const struct claim *c = r->claim;
	json_t *o = json_object(), *env = json_array();

	for (size_t i = 0; c->env && c->env[i]; i++)
		json_add(env, json_str(c->env[i]));
	json_put(o, "entrypoint", json_str(c->entrypoint));
	json_put(o, "working_dir", text_or_null(c->working_dir));
	json_put(o, "environment", env);
	/* As the analysis has it: a string, since it may be past what every reader holds. */
	if (c->has_seed) {
		autofree char *seed = NULL;
		auto_json json_t *value = json_integer(c->seed);

		seed = json_text(value);
		json_put(o, "seed", json_str(seed));
	} else {
		json_put(o, "seed", json_null());
	}
	json_put(o, "limits", limits_json(&c->limits));
	json_put(o, "commit", json_str(c->commit));
	json_put(o, "image_digest", json_str(c->image));
	json_put(o, "runtime", json_str(r->runtime));
	json_put(o, "deterministic", json_boolean(r->is_deterministic));
	json_put(o, "allow_extra_data", json_boolean(r->allows_extra_data));
	json_put(o, "repeat", json_u64(r->repeat));
	return o;
}

static json_t *isolation_json(const struct record *r)
{
	json_t *o = json_object(), *applied = json_array(), *degraded = json_array();

	for (int s = 0; s < SETTINGS; s++) {
		const char *why = r->isolation->degraded[s];
		json_t *one;

		if (!why) {
			json_add(applied, json_str(setting_word((enum setting)s)));
			continue;
		}
		one = json_object();
		json_put(one, "setting", json_str(setting_word((enum setting)s)));
		json_put(one, "why", json_str(why));
		json_add(degraded, one);
	}
	json_put(o, "applied", applied);
	json_put(o, "degraded", degraded);
	return o;
}

static json_t *borrow(const json_t *value)
{
	return json_incref((json_t *)(uintptr_t)value);
}

json_t *record_json(const struct record *r)
{
	const struct findings *f = r->findings;
	json_t *o = json_object(), *claim = json_object(), *inputs = json_object(),
	       *reason = json_object(), *contract = contract_json(r);
	autofree char *text = json_text(contract);
	char digest[DIGEST_TEXT];

	digest_of(text, strlen(text), digest);
	json_put(claim, "id", json_str(r->claim->id));
	json_put(claim, "text", text_or_null(r->claim->text));
	json_put(claim, "repository", text_or_null(r->claim->repository));
	json_put(claim, "manifest_sha256", json_str(r->claim->digest));
	json_put(inputs, "code", borrow(r->code));
	json_put(inputs, "data", borrow(r->data));
	json_put(inputs, "image", json_str(r->image));
	json_put(reason, "code", json_str(finding_code(f->worst)));
	json_put(reason, "detail", json_str(f->detail));
	json_put(o, "format", json_str(RECORD_FORMAT));
	json_put(o, "version", json_str(r->version));
	json_put(o, "job_id", text_or_null(r->job_id));
	json_put(o, "claim", claim);
	json_put(o, "contract", contract);
	json_put(o, "contract_digest", json_str(digest));
	json_put(o, "inputs", inputs);
	/* Where nothing ran, nothing was applied. */
	json_put(o, "isolation", json_array_size(r->runs) ? isolation_json(r) : json_null());
	json_put(o, "runs", borrow(r->runs));
	json_put(o, "targets", r->targets ? borrow(r->targets) : json_array());
	json_put(o, "findings", borrow(f->list));
	json_put(o, "outcome", json_str(outcome_names[finding_outcome(f->worst)]));
	json_put(o, "reason", reason);
	return o;
}
