/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: see report.h and docs/format/report. */
#include "run/report.h"

#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/json.h"
#include "run/place.h"

static json_t *text_or_null(const char *s)
{
	return s && s[0] ? json_str(s) : json_null();
}

static json_t *exit_json(const struct one_result *r)
{
	json_t *o = json_object();

	switch (r->end) {
	case ONE_GUEST:
		if (r->signal)
			json_put(o, "signal", json_u64((uint64_t)r->signal));
		else
			json_put(o, "code", json_u64((uint64_t)r->code));
		break;
	case ONE_DEADLOCK:
	case ONE_DIVERGED:
	case ONE_TIMEOUT:
	case ONE_CLOSED:
	case ONE_STOPPED:
		json_put(o, "signal", json_u64(9)); /* we killed it */
		break;
	case ONE_FAILED:
	case ONE_DIED:
		json_put(o, "code", json_null());
		break;
	}
	json_put(o, "oom", json_boolean(r->oom));
	return o;
}

static json_t *not_enforced_json(const struct notes *n)
{
	json_t *list = json_array();

	for (int i = 0; i < REASON_COUNT; i++) {
		json_t *o;

		if (n->not_enforced[i].count == 0)
			continue;
		o = json_object();
		json_put(o, "reason", json_str(reason_info((enum reason)i)->code));
		json_put(o, "count", json_u64(n->not_enforced[i].count));
		json_put(o, "first", json_str(n->not_enforced[i].first));
		json_add(list, o);
	}
	return list;
}

static json_t *assumptions_json(const struct notes *n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n->assumption_count; i++) {
		json_t *o = json_object();

		json_put(o, "reason", json_str(reason_info(n->assumptions[i].reason)->code));
		json_put(o, "detail", json_str(n->assumptions[i].detail));
		json_add(list, o);
	}
	return list;
}

static json_t *programs_json(const struct programs *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++) {
		json_t *o = json_object();

		json_put(o, "path", json_str(p->items[i].path));
		json_put(o, "sha256", text_or_null(p->items[i].sha256));
		json_add(list, o);
	}
	return list;
}

static json_t *clock_json(const struct report *r)
{
	json_t *o = json_object();

	json_put(o, "epoch_ns", json_u64(r->contract->epoch_ns));
	json_put(o, "final_ns", json_u64(r->first->counts.clock_final_ns));
	json_put(o, "advances", json_u64(r->first->counts.clock_advances));
	return o;
}

static json_t *counts_json(const struct counts *c)
{
	json_t *o = json_object();

	json_put(o, "clock_reads", json_u64(c->clock_reads));
	json_put(o, "entropy_bytes", json_u64(c->entropy_bytes));
	json_put(o, "timers_fired", json_u64(c->timers_fired));
	json_put(o, "external_reads", json_u64(c->external_reads));
	json_put(o, "switches", json_u64(c->switches));
	json_put(o, "stops", json_u64(c->stops));
	json_put(o, "decisions", json_u64(c->decisions));
	json_put(o, "tasks", json_u64(c->tasks));
	json_put(o, "processes", json_u64(c->processes));
	return o;
}

static json_t *outputs_json(const struct report *r)
{
	json_t *o = json_object();
	char decisions[DIGEST_TEXT];

	digest_text(r->decisions->digest, decisions);
	json_put(o, "stdout", json_str(r->first->out));
	/* With a terminal both streams are one. */
	json_put(o, "stderr", r->contract->tty ? json_null() : json_str(r->first->err));
	json_put(o, "tree", text_or_null(r->tree));
	json_put(o, "decisions", r->contract->deterministic ? json_str(decisions) : json_null());
	return o;
}

static json_t *decision_json(bool has, const struct decision *d)
{
	autofree char *text = NULL;
	json_t *o;

	if (!has)
		return json_null();
	text = difference_decision_text(d);
	o = json_object();
	json_put(o, "task", json_u64(d->task));
	json_put(o, "now_ns", json_u64(d->now_ns));
	json_put(o, "text", json_str(text));
	return o;
}

/* The first decision where the runs part, or else the first output that differs. */
static json_t *difference_json(const struct difference *d)
{
	json_t *o = json_object(), *outputs = json_array(), *decision;
	const struct difference_row *row = NULL;

	for (int i = 0; i < DIFFERENCE_OUTPUTS; i++)
		if (d->rows[i].differs) {
			json_add(outputs, json_str(difference_name((enum difference_output)i)));
			row = row ? row : &d->rows[i];
		}
	json_put(o, "outputs", outputs);
	json_put(o, "line", row && row->line ? json_u64(row->line) : json_null());
	json_put(o, "first", row && row->first ? json_str(row->first) : json_null());
	json_put(o, "second", row && row->second ? json_str(row->second) : json_null());
	if (!d->has_decision) {
		json_put(o, "decision", json_null());
		return o;
	}
	decision = json_object();
	json_put(decision, "ordinal", json_u64(d->decision.ordinal));
	json_put(decision, "first", decision_json(d->decision.has_first, &d->decision.first));
	json_put(decision, "second", decision_json(d->decision.has_second, &d->decision.second));
	json_put(o, "decision", decision);
	return o;
}

static json_t *verify_json(const struct report *r)
{
	json_t *o = json_object();
	bool differs = r->difference && difference_any(r->difference);

	json_put(o, "runs", json_u64((uint64_t)r->runs));
	json_put(o, "identical", r->difference ? json_boolean(!differs) : json_null());
	json_put(o, "first_difference", differs ? difference_json(r->difference) : json_null());
	return o;
}

static json_t *rootfs_json(const struct report *r)
{
	json_t *o = json_object();

	const struct inputs *in = r->inputs;

	json_put(o, "kind",
		json_str(in->image[0]	       ? "image"
			 : r->contract->rootfs ? "directory"
					       : "host"));
	json_put(o, "digest", text_or_null(in->image[0] ? in->image : in->rootfs));
	return o;
}

static json_t *deadlock_json(const struct one_result *r)
{
	json_t *list, *o;

	if (r->end != ONE_DEADLOCK)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < r->waiters.count; i++) {
		const struct waiter *w = &r->waiters.items[i];

		o = json_object();
		json_put(o, "task", json_u64(w->task));
		json_put(o, "pid", json_u64(w->pid));
		json_put(o, "tid", json_u64(w->tid));
		json_put(o, "name", json_str(w->name));
		json_put(o, "call", text_or_null(w->call));
		json_put(o, "arguments", json_str(w->arguments));
		json_put(o, "waits_for", json_str(w->what));
		json_add(list, o);
	}
	return list;
}

json_t *report_json(const struct report *r)
{
	json_t *o = json_object(), *contract = contract_json(r->contract, r->inputs);
	bool ran = r->first->end != ONE_FAILED && r->first->end != ONE_DIED;
	char digest[DIGEST_TEXT];

	json_digest(contract, digest);
	json_put(o, "format", json_str("sandglass.run/1"));
	json_put(o, "contract", contract);
	json_put(o, "contract_digest", json_str(digest));
	json_put(o, "rootfs", rootfs_json(r));
	json_put(o, "programs", programs_json(&r->first->programs));
	json_put(o, "exit", exit_json(r->first));
	json_put(o, "status", json_u64((uint64_t)r->status));
	json_put(o, "deadlock", deadlock_json(r->first));
	json_put(o, "enforced",
		json_boolean(ran && r->contract->deterministic &&
			     notes_is_enforced(&r->first->notes) &&
			     !(r->difference && difference_any(r->difference))));
	json_put(o, "not_enforced", not_enforced_json(&r->first->notes));
	json_put(o, "assumptions", assumptions_json(&r->first->notes));
	json_put(o, "clock", clock_json(r));
	json_put(o, "counts", counts_json(&r->first->counts));
	json_put(o, "outputs", outputs_json(r));
	json_put(o, "tape", text_or_null(r->tape ? r->tape : ""));
	json_put(o, "verify", verify_json(r));
	return o;
}

static int write_line(int fd, const void *arg, struct error *err)
{
	const char *text = arg;

	return fd_write_all(fd, text, strlen(text), err) < 0 ? -1 : fd_write_all(fd, "\n", 1, err);
}

int report_write(const char *path, const char *text, struct error *err)
{
	return place_write(path, write_line, text, err) < 0
		       ? error_wrap(err, "--report '%.200s'", path)
		       : 0;
}
