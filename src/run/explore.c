/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other orders of tasks: see explore.h.
 *
 * How it works. The program runs once by the rule; then with one seed after the other, until one
 * changes how it ends or what it puts out. The switches that this seed forced are shrunk to the
 * fewest that have the same effect. All of it is one contract but for the seed or the switches, so
 * everything found here happens again with `sandglass run`.
 */
#include "run/explore.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/str.h"
#include "codec/json.h"
#include "config/supervisor.h"
#include "run/attempt.h"
#include "run/contract.h"
#include "run/explored.h"
#include "run/shrink.h"
#include "run/stdin.h"

enum { SHRINK_TRIES = 400 };

struct explore {
	const struct run_options *o;
	explore_progress *progress;
	size_t runs;
	struct contract contract;
	struct stdin_source in;
	struct one_spec spec;
	int signals, supervisor;
	const char *phase;
	size_t of;
	struct attempt base, bad;
	uint64_t seed; /* of bad; 0: none was found */
	struct contract_switch *switches;
	size_t switch_count, forced; /* the fewest, and what the seed made */
	bool is_shrunk;
};

static void explore_finish(struct explore *e)
{
	attempt_finish(&e->base);
	attempt_finish(&e->bad);
	free(e->switches);
	stdin_close(&e->in);
	contract_finish(&e->contract);
	fd_close(&e->signals);
	fd_close(&e->supervisor);
}

/* Its runs would each be another conversation. */
static int check_network(const struct run_options *o, struct error *err)
{
	if (!o->network || strcmp(o->network, "none") == 0)
		return 0;
	return error_set(err, ERR_USAGE,
		"--network: explore runs a program many times, so only 'none' is there");
}

static int prepare(struct explore *e, run_say *say, struct error *err)
{
	auto_contract_host struct contract_host host = {0};

	if (contract_host_read(&host, err) < 0)
		return -1;
	host.tty = false;
	if (check_network(e->o, err) < 0 ||
		contract_build(e->o, &host, &e->contract, say, err) < 0 ||
		stdin_open(&e->in, &e->contract, err) < 0)
		return -1;
	/* A stream can be read once. */
	if (e->in.kind == CONTRACT_STDIN_STREAM)
		e->in.kind = e->contract.stdin_kind = CONTRACT_STDIN_EMPTY;
	if (supervisor_open(&e->supervisor, err) < 0 || signals_open(0, &e->signals, err) < 0)
		return -1;
	e->spec = (struct one_spec){.contract = &e->contract,
		.supervisor = e->supervisor,
		.in = &e->in,
		.timeout_ns = e->o->timeout_ns,
		.signals = e->signals,
		.spool_out = -1,
		.spool_err = -1,
		.say = say};
	return 0;
}

static void told(const void *arg, size_t done)
{
	const struct explore *e = arg;

	if (e->progress)
		e->progress(e->phase, done, e->of);
}

static void by_rule(const void *arg, size_t i, struct contract *c)
{
	(void)arg;
	(void)i;
	c->sched_seed = 0;
	c->switch_count = 0;
}

static void by_seed(const void *arg, size_t i, struct contract *c)
{
	(void)arg;
	c->sched_seed = i + 1;
	c->switch_count = 0;
}

static bool any(const void *arg, const struct outcome *o)
{
	(void)arg;
	(void)o;
	return true;
}

static bool same_end(const struct outcome *a, const struct outcome *b)
{
	return a->end == b->end && a->code == b->code && a->signal == b->signal &&
	       a->is_enforced == b->is_enforced;
}

static bool same_output(const struct outcome *a, const struct outcome *b)
{
	/* What was killed on its way was cut anywhere. */
	return a->end == ONE_TIMEOUT ||
	       (strcmp(a->out, b->out) == 0 && strcmp(a->err, b->err) == 0 &&
		       strcmp(a->tree, b->tree) == 0);
}

static bool changes(const void *arg, const struct outcome *o)
{
	const struct explore *e = arg;

	return !same_end(&e->base.outcome, o) || !same_output(&e->base.outcome, o);
}

/* It fails as the seed's run does, though not in every byte. */
static bool fails_too(const void *arg, const struct outcome *o)
{
	const struct explore *e = arg;

	return same_end(&e->bad.outcome, o) && changes(e, o);
}

static int search(struct explore *e, unsigned jobs, struct error *err)
{
	struct attempts s = {.spec = &e->spec, .jobs = 1, .arg = e, .vary = by_rule, .judge = any};
	size_t which;
	int r = attempts_find(&s, 1, &which, &e->base, err);

	if (r <= 0)
		return r;
	s.jobs = jobs;
	s.vary = by_seed;
	s.judge = changes;
	s.told = told;
	e->phase = "seeds";
	e->of = e->runs;
	r = attempts_find(&s, e->runs, &which, &e->bad, err);
	if (r > 0)
		e->seed = which + 1;
	return r;
}

static int make_small(struct explore *e, unsigned jobs, struct error *err)
{
	struct attempts s = {
		.spec = &e->spec, .jobs = jobs, .arg = e, .judge = fails_too, .told = told};
	auto_attempt struct attempt small = ATTEMPT_NONE;
	int r;

	if (shrink_switches(&e->bad, &e->switches, &e->switch_count, err) < 0)
		return -1;
	e->forced = e->switch_count;
	e->phase = "shrinking";
	e->of = 0;
	r = shrink(&s, SHRINK_TRIES, e->switches, &e->switch_count, &small, err);
	if (r <= 0)
		return r;
	e->is_shrunk = true;
	attempt_finish(&e->bad);
	e->bad = small;
	small = ATTEMPT_NONE;
	/* Those of the list that came to nothing are not in the record. */
	free(e->switches);
	e->switches = NULL;
	return shrink_switches(&e->bad, &e->switches, &e->switch_count, err);
}

static int explain(const struct explore *e, const char *options, char **ret_text, struct error *err)
{
	struct explored x = {.runs = e->runs,
		.seed = e->seed,
		.base = &e->base,
		.bad = &e->bad,
		.switches = e->switches,
		.switch_count = e->switch_count,
		.forced = e->forced,
		.is_shrunk = e->is_shrunk,
		.has_file = e->in.kind == CONTRACT_STDIN_FILE,
		.options = options,
		.argv = e->o->argv};
	auto_json json_t *value = NULL;

	if (!e->o->json)
		return explored_text(&x, ret_text, err);
	if (explored_json(&x, &value, err) < 0)
		return -1;
	*ret_text = json_text(value);
	return 0;
}

int explore_execute(const struct explore_options *x, run_say *say, explore_progress *progress,
	bool *ret_found, char **ret_text, struct error *err)
{
	struct explore CLEANUP(explore_finish) e = {.o = &x->run,
		.progress = progress,
		.runs = (size_t)x->runs,
		.in = {.file = -1, .spool = -1},
		.signals = -1,
		.supervisor = -1,
		.base = ATTEMPT_NONE,
		.bad = ATTEMPT_NONE};
	unsigned jobs = x->jobs ? (unsigned)x->jobs : 1;
	int found;

	if (x->runs > EXPLORE_RUNS_MAX || x->jobs > ATTEMPT_JOBS_MAX)
		return error_set(err, ERR_USAGE, "at most %d runs and %d jobs", EXPLORE_RUNS_MAX,
			ATTEMPT_JOBS_MAX);
	if (prepare(&e, say, err) < 0)
		return -1;
	found = search(&e, jobs, err);
	if (found < 0 || (found > 0 && make_small(&e, jobs, err) < 0))
		return -1;
	*ret_found = found > 0;
	return explain(&e, x->words, ret_text, err);
}
