/* SPDX-License-Identifier: Apache-2.0 */
/* The course of a trial, from the fork to the report: see trial.h. */
#include "trial/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "trial/inside.h"

enum { DETAIL_MAX = 2000 };

struct player *trial_candidate(struct trial *t)
{
	return &t->players[t->spec->pack_count - 1];
}

int trial_over(struct trial *t, enum trial_outcome outcome, const char *fmt, ...)
{
	char text[DETAIL_MAX];
	va_list args;

	if (t->has_outcome)
		return STEP_OVER;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	t->has_outcome = true;
	t->report->outcome = outcome;
	t->report->detail = mem_strdup(text);
	return STEP_OVER;
}

void trial_warn(struct trial *t, const char *text)
{
	struct trial_report *r = t->report;

	for (size_t i = 0; i < r->warning_count; i++)
		if (strcmp(r->warnings[i], text) == 0)
			return;
	r->warnings = mem_grow(r->warnings, r->warning_count + 1, sizeof(*r->warnings));
	r->warnings[r->warning_count++] = mem_strdup(text);
}

static void mix(struct digest *d, const char *text)
{
	digest_update(d, text ? text : "", text ? strlen(text) + 1 : 0);
	digest_update(d, text ? "+" : "-", 1);
}

/*
 * A trial that shall repeat has its fork's name from what it is. Where it was made before, that
 * fork is there, and what it holds is what this one would.
 */
static int choose_id(struct trial *t, struct error *err)
{
	const struct trial_spec *s = t->spec;
	auto_digest struct digest *d = digest_new();
	auto_json json_t *limits = trial_limits_json(&s->limits);
	autofree char *text = json_text(limits);
	auto_ledger_run struct ledger_run run = {0};
	unsigned char bytes[DIGEST_SIZE];
	char digest[DIGEST_TEXT];
	const char *const words[] = {
		s->run, s->at, s->label, s->scenario, s->no_manifest ? "no manifest" : "", text};

	if (ledger_run_get(t->ledger, s->run, &run, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		mix(d, words[i]);
	for (size_t i = 0; i < s->pack_count; i++)
		mix(d, s->packs[i].pin);
	for (char *const *e = s->env; e && *e; e++)
		mix(d, *e);
	digest_text(d, digest);
	digest_raw(digest, strlen(digest), bytes);
	ledger_choose_id(t->ledger, bytes);
	return 0;
}

/* The fork, and where it ends. */
static int make_fork(struct trial *t, struct error *err)
{
	const struct trial_spec *s = t->spec;
	auto_ledger_writer struct ledger_writer *w = NULL;

	if (ledger_open(s->store, LEDGER_EXISTING, 0, &t->ledger, err) < 0 ||
		(s->deterministic && choose_id(t, err) < 0) ||
		ledger_fork(t->ledger, s->run, s->at, s->label ? s->label : "trial",
			t->report->fork_run_id, err) < 0 ||
		ledger_writer_open(t->ledger, t->report->fork_run_id, &w, err) < 0)
		return s->deterministic && strstr(err->msg, "UNIQUE constraint")
			       ? error_set(err, ERR_BUSY,
					 "this very trial was made in this store before, and its "
					 "fork is there: make it in a copy of the store, or with "
					 "another --label")
			       : -1;
	t->shared = ledger_writer_seq(w);
	t->next_number = ledger_writer_number(w) + 1;
	return 0;
}

static int play_scenario(struct trial *t, struct error *err)
{
	const char *s = t->spec->scenario, *end = strstr(s, "::");
	autofree char *file = mem_strndup(s, end ? (size_t)(end - s) : strlen(s));
	auto_json json_t *f = json_str(file), *g = json_str(end && end[2] ? end + 2 : "main");
	autofree char *ftext = json_dumps(f, JSON_ENCODE_ANY), *gtext = NULL, *members = NULL;
	const struct call c = {.player = trial_candidate(t), .actor = "scenario", .may_idle = true};
	int r;

	gtext = json_dumps(g, JSON_ENCODE_ANY);
	members = str_format(",\"file\":%s,\"function\":%s", ftext, gtext);
	r = trial_call(t, &c, "scenario", members, NULL, err);
	if (r != STEP_FAILED)
		return r;
	if (str_has_prefix(t->said, "MemoryError"))
		return trial_over(t, TRIAL_LIMITS_EXCEEDED,
			"it took more memory than --memory allows: %s", t->said);
	return trial_over(t, TRIAL_SCENARIO_FAILED, "%s", t->said);
}

/* Each is told to end, and has to do so by itself with status 0. */
static int end_all(struct trial *t, struct error *err)
{
	static const char line[] = "{\"do\":\"end\"}\n";
	int r = 0;

	t->phase = PHASE_END;
	for (size_t i = 0; i < t->spec->pack_count; i++)
		if (worker_tell(&t->players[i].worker, t->deadline_ns, line, strlen(line), err) < 0)
			return err->code == ERR_TIMEOUT ? trial_out_of_time(t) : STEP_ERROR;
	for (size_t i = 0; r == 0 && i < t->spec->pack_count; i++) {
		const struct worker_end *e = &t->players[i].worker.end;

		if (!worker_wait(&t->players[i].worker, t->deadline_ns))
			return trial_out_of_time(t);
		if (!e->is_known || e->failed.code != ERR_NONE || e->result.oom ||
			e->result.end != SANDBOX_EXITED || e->result.code != 0)
			r = trial_judge_end(t, &t->players[i], err);
	}
	return r;
}

static int play(struct trial *t, struct error *err)
{
	int r = trial_materialize(t, err);

	if (r != 0)
		return r;
	if (t->spec->limits.wall_ns)
		t->deadline_ns = clock_host_ns() + t->spec->limits.wall_ns;
	r = trial_describe(t, err);
	if (r != 0)
		return r;
	t->phase = PHASE_PLAY;
	r = trial_load(t, err);
	if (r == 0)
		r = t->spec->scenario && t->spec->scenario[0] ? play_scenario(t, err)
							      : trial_idle(t, err);
	return r == 0 ? end_all(t, err) : r;
}

/* Nothing of the packs runs after this; what their containers told is taken over. */
static void stop_all(struct trial *t)
{
	for (size_t i = 0; t->players && i < t->spec->pack_count; i++) {
		struct player *p = &t->players[i];
		const struct worker_end *e = &p->worker.end;

		if (!p->is_started)
			continue;
		worker_finish(&p->worker);
		p->is_started = false;
		for (uint32_t j = 0; e->is_known && j < e->degraded_count; j++)
			trial_warn(t, e->degraded[j]);
		if (e->is_known && e->result.was_deterministic && !e->result.enforced &&
			e->result.end != SANDBOX_STOPPED)
			trial_warn(t, e->result.detail);
		if (p == trial_candidate(t))
			trial_keep_exit(t, p);
	}
}

static void trial_finish(struct trial *t)
{
	stop_all(t);
	for (size_t i = 0; t->players && i < t->spec->pack_count; i++) {
		struct player *p = &t->players[i];

		bundle_finish(&p->bundle);
		json_decref(p->manifest);
		json_decref(p->surface);
		pack_code_finish(&p->code);
		free(p->tree);
		free(p->name);
	}
	for (size_t i = 0; i < t->count; i++) {
		free(t->events[i].id);
		free(t->events[i].type);
		free(t->events[i].payload);
		free(t->events[i].actor);
		free(t->events[i].caused_by);
	}
	free(t->events);
	free(t->players);
	free(t->old);
	free(t->host);
	free(t->said);
	graph_cleanup(&t->graph);
	tree_close(&t->tree);
	ledger_cleanup(&t->ledger);
}

/* A net that is weaker than asked is told where nobody can miss it. */
static void fold_warnings(struct trial_report *r)
{
	autofree char *all = NULL;

	if (!r->warning_count)
		return;
	for (size_t i = 0; i < r->warning_count; i++) {
		autofree char *before = all;

		all = str_format(
			"%s%s%s", before ? before : "", before ? "; " : "", r->warnings[i]);
	}
	autofree char *detail = r->detail;
	r->detail = str_format("%s%s[degraded: %s]", detail, detail[0] ? " " : "", all);
}

int trial_run(const struct trial_spec *spec, struct trial_report *ret, struct error *err)
{
	auto_trial_report struct trial_report report = {.limits = spec->limits};
	struct trial CLEANUP(trial_finish)
		t = {.spec = spec, .report = &report, .tree = {.work = -1}};
	int r;

	t.players = mem_array(spec->pack_count, sizeof(*t.players));
	if (spec->limits.max_llm_calls)
		trial_warn(&t, "no provider of a model is ever configured: --max-llm-calls is "
			       "recorded and does nothing");
	if (make_fork(&t, err) < 0)
		return -1;
	if (fault_point("trial: forked") < 0)
		return error_sys(err, "make the trial");
	r = play(&t, err);
	if (r == 0)
		(void)trial_over(&t, TRIAL_COMPLETED, "%s", "");
	stop_all(&t);
	if (r < 0)
		return error_wrap(err, "trial on fork %s", report.fork_run_id);
	if (fault_point("trial: ended") < 0)
		return error_sys(err, "make the trial");
	if (trial_commit(&t, err) < 0)
		return -1;
	if (fault_point("trial: committed") < 0)
		return error_sys(err, "make the trial");
	fold_warnings(&report);
	*ret = report;
	report = (struct trial_report){0};
	return 0;
}

int trial_check(const struct trial_pack *pack, const struct trial_limits *limits, const char *work,
	struct trial_report *ret, struct error *err)
{
	const struct trial_spec spec = {
		.packs = pack, .pack_count = 1, .limits = *limits, .work = work};
	auto_trial_report struct trial_report report = {.limits = *limits};
	struct trial CLEANUP(trial_finish)
		t = {.spec = &spec, .report = &report, .tree = {.work = -1}};
	int r;

	t.players = mem_array(1, sizeof(*t.players));
	r = trial_materialize(&t, err);
	if (limits->wall_ns)
		t.deadline_ns = clock_host_ns() + limits->wall_ns;
	if (r == 0)
		r = trial_describe(&t, err);
	if (r == 0)
		r = end_all(&t, err);
	if (r == 0)
		(void)!trial_over(&t, TRIAL_COMPLETED, "%s", "");
	stop_all(&t);
	if (r < 0)
		return -1;
	*ret = report;
	report = (struct trial_report){0};
	return 0;
}
