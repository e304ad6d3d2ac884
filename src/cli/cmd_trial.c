/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass trial and preflight: candidate code on a fork of history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attest/tried.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/evidence.h"
#include "cli/session.h"
#include "cli/signed.h"
#include "cli/store.h"
#include "cli/trial.h"
#include "run/run.h"

struct values {
	const char *store, *run, *at, *pack, *bundle_hash, *scenario, *report, *label;
	struct run_list extra, passed;
	struct cli_limits limits;
	bool no_manifest, deterministic, sign, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	{"store", CLI_TEXT, "FILE", "the ledger", AT(store)},
	{"run", CLI_TEXT, "RUN", "the run to fork", AT(run)},
	{"at", CLI_TEXT, "EVENT", "the last event that the fork shares; default: the run's last",
		AT(at)},
	{"pack", CLI_TEXT, "DIR", "the candidate", AT(pack)},
	{"bundle-hash", CLI_TEXT, "HASH", "the bytes that it has to have: 'sandglass pack hash'",
		AT(bundle_hash)},
	{"extra-pack", CLI_LIST, "DIR=HASH", "another pack, loaded before the candidate",
		AT(extra)},
	{"scenario", CLI_TEXT, "FILE[::FUNC]",
		"what drives the trial, a file of the candidate; FUNC is main by default",
		AT(scenario), "Without it behaviors do what the run had left, and that is all."},
	{"label", CLI_TEXT, "TEXT", "of the fork; default: trial", AT(label)},
	{"no-manifest", CLI_FLAG, NULL, "the packs need no manifest, and it is not compared",
		AT(no_manifest)},
	{"deterministic", CLI_FLAG, NULL,
		"run the packs under the supervisor, so that a trial can be repeated",
		AT(deterministic)},
	{"report", CLI_TEXT, "FILE", "write the report, as JSON, to this file too", AT(report)},
	{"sign", CLI_FLAG, NULL, "sign what is written to --report", AT(sign),
		"It is then a receipt that 'receipt verify' checks."},
	{"env-passthrough", CLI_LIST, "NAME", "hand on this variable; no other is", AT(passed)},
	CLI_LIMIT_OPTIONS(struct values),
	{0},
};

/* NAME=VALUE of the names that are set, NULL-terminated. */
struct env {
	char **list;
};

static void env_finish(struct env *e)
{
	for (char **p = e->list; p && *p; p++)
		free(*p);
	free(e->list);
}

static int pass_env(const struct run_list *names, struct env *ret, struct error *err)
{
	size_t n = 0;

	ret->list = mem_array(names->count + 1, sizeof(*ret->list));
	for (size_t i = 0; i < names->count; i++) {
		const char *value;

		if (!names->items[i][0] || strchr(names->items[i], '='))
			return error_set(err, ERR_USAGE, "--env-passthrough '%s' is no name",
				names->items[i]);
		value = getenv(names->items[i]);
		if (value)
			ret->list[n++] = str_format("%s=%s", names->items[i], value);
	}
	return 0;
}

/* The packs in the order of loading, the candidate last; their strings are in `texts`. */
struct packs {
	struct trial_pack *list;
	char **texts;
	size_t count;
};

static void packs_finish(struct packs *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->list);
}

static int read_packs(const struct values *v, struct packs *ret, struct error *err)
{
	if (!v->pack || !v->bundle_hash)
		return error_set(err, ERR_USAGE,
			"a trial needs --pack DIR and --bundle-hash HASH: 'sandglass pack hash "
			"DIR' "
			"prints it");
	ret->list = mem_array(v->extra.count + 1, sizeof(*ret->list));
	ret->texts = mem_array(v->extra.count + 1, sizeof(*ret->texts));
	for (; ret->count < v->extra.count; ret->count++) {
		char *text = mem_strdup(v->extra.items[ret->count]), *equals = strrchr(text, '=');

		ret->texts[ret->count] = text;
		if (!equals || equals == text) {
			error_set(err, ERR_USAGE, "--extra-pack '%s' is not DIR=HASH", text);
			ret->count++;
			return -1;
		}
		*equals = '\0';
		ret->list[ret->count] = (struct trial_pack){.dir = text, .pin = equals + 1};
	}
	ret->texts[ret->count] = mem_strdup(v->pack);
	ret->list[ret->count++] = (struct trial_pack){.dir = v->pack, .pin = v->bundle_hash};
	return 0;
}

static int write_report(const char *path, const json_t *report, struct error *err)
{
	autofree char *text = json_text(report), *line = str_format("%s\n", text);
	FILE *f = fopen(path, "we");
	bool is_written;

	if (!f)
		return error_sys(err, "write '%.300s'", path);
	is_written = fputs(line, f) >= 0;
	if (fclose(f) != 0 || !is_written)
		return error_sys(err, "write '%.300s'", path);
	return 0;
}

static int put_report(const struct values *v, const struct packs *packs, const json_t *report,
	const struct key *k, struct error *err)
{
	auto_json json_t *statement = NULL;
	json_t *pins;

	if (!v->report)
		return 0;
	if (!v->sign)
		return write_report(v->report, report, err);
	pins = json_array();
	for (size_t i = 0; i < packs->count; i++)
		json_add(pins, json_str(packs->list[i].pin));
	statement = tried_statement(report, pins, v->run, v->at, v->scenario);
	return cli_signed_write(v->report, k, statement, err);
}

static void print_report(const struct trial_report *r, bool as_json, json_t *value)
{
	if (as_json) {
		cli_print_json(json_incref(value));
		return;
	}
	printf("%s: fork %s, %llu events appended, %llu behavior failures\n",
		trial_outcome_name(r->outcome), r->fork_run_id,
		(unsigned long long)r->events_appended, (unsigned long long)r->behavior_failures);
	if (r->detail && r->detail[0])
		printf("%s\n", r->detail);
}

static int prepare(const struct values *v, struct packs *packs, struct env *env,
	struct trial_limits *limits, struct error *err)
{
	trial_limits_init(limits);
	if (!v->store || !v->run)
		return error_set(err, ERR_USAGE, "a trial needs --store FILE and --run RUN");
	if (v->sign && !v->report)
		return error_set(
			err, ERR_USAGE, "--sign signs the report: name its file with --report");
	if (read_packs(v, packs, err) < 0 || cli_limits_read(&v->limits, limits, err) < 0)
		return -1;
	return pass_env(&v->passed, env, err);
}

static int run_trial(void *values, char **argv)
{
	const struct values *v = values;
	struct packs CLEANUP(packs_finish) packs = {0};
	struct env CLEANUP(env_finish) env = {0};
	auto_trial_report struct trial_report report = {0};
	auto_json json_t *value = NULL;
	auto_key struct key *k = NULL;
	autofree char *work = NULL;
	struct trial_spec spec = {.store = v->store,
		.run = v->run,
		.at = v->at,
		.label = v->label,
		.scenario = v->scenario,
		.no_manifest = v->no_manifest,
		.deterministic = v->deterministic};
	struct error err;

	if (!cli_words_are(
		    argv, 0, 0, "trial --store FILE --run RUN --pack DIR --bundle-hash HASH"))
		return STATUS_USAGE;
	if (prepare(v, &packs, &env, &spec.limits, &err) < 0 || cli_trial_work(&work, &err) < 0 ||
		(v->sign && cli_signing_key(&k, &err) < 0))
		return cli_fail(&err, STATUS_USAGE);
	spec.packs = packs.list;
	spec.pack_count = packs.count;
	spec.env = env.list;
	spec.work = work;
	if (trial_run(&spec, &report, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	for (size_t i = 0; i < report.warning_count; i++) {
		autofree char *line = str_format("warning: %s", report.warnings[i]);

		cli_say(line);
	}
	value = trial_report_json(&report);
	print_report(&report, v->json, value);
	if (put_report(v, &packs, value, k, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	return report.outcome == TRIAL_COMPLETED ? 0 : STATUS_NO;
}

const struct cli_command command_trial = {
	.name = "trial",
	.arguments = "",
	.summary = "Try the code of a pack on a fork of a saved run",
	.details =
		"The status is 0 for outcome completed, 1 for every other outcome, 2 when no trial "
		"could be made.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run_trial,
	.usage_status = 2,
};

struct probe_values {
	struct cli_limits limits;
	bool deterministic, json;
};

static const struct cli_option probe_options[] = {
	{"deterministic", CLI_FLAG, NULL, "under the supervisor",
		offsetof(struct probe_values, deterministic)},
	CLI_LIMIT_OPTIONS(struct probe_values),
	{0},
};

/* The same limits as a trial's, but for these two. */
enum { PROBE_SECONDS = 30 };
#define PROBE_MEMORY (UINT64_C(1) << 30)

static int run_preflight(void *values, char **argv)
{
	const struct probe_values *v = values;
	struct env CLEANUP(env_finish) warnings = {0};
	struct trial_limits limits;
	struct error err;
	size_t count = 0;

	if (!cli_words_are(argv, 0, 0, "preflight"))
		return STATUS_USAGE;
	trial_limits_init(&limits);
	limits.wall_ns = PROBE_SECONDS * UINT64_C(1000000000);
	limits.memory = PROBE_MEMORY;
	if (cli_limits_read(&v->limits, &limits, &err) < 0 ||
		trial_preflight(&limits, v->deterministic, &warnings.list, &count, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (v->json) {
		json_t *o = json_object(), *list = json_array();

		for (size_t i = 0; i < count; i++)
			json_add(list, json_str(warnings.list[i]));
		json_put(o, "warnings", list);
		json_put(o, "limits", trial_limits_json(&limits));
		cli_print_json(o);
	} else {
		for (size_t i = 0; i < count; i++)
			printf("degraded: %s\n", warnings.list[i]);
		if (!count)
			printf("clean\n");
	}
	return count ? STATUS_NO : 0;
}

const struct cli_command command_preflight = {
	.name = "preflight",
	.arguments = "",
	.summary = "See whether a trial's child can start here, and what is weaker than asked",
	.details =
		"It is started by the path of a trial, with the limits given. The status is 0 when "
		"all hold, 1 when one\nis weaker than asked, 2 when no child can start.\n",
	.options = probe_options,
	.size = sizeof(struct probe_values),
	.json = offsetof(struct probe_values, json),
	.interleaved = true,
	.run = run_preflight,
	.usage_status = 2,
};
