/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass runs list, show, events: what is in a ledger. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/session.h"
#include "cli/store.h"
#include "ledger/lines.h"
#include "runtime/runtime.h"

struct values {
	struct cli_runs runs;
	const char *type;
	uint64_t from, count;
	bool own, state, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option list_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{0},
};
static const struct cli_option show_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"state", CLI_FLAG, NULL, "what its events project to: objects, relations, patches",
		AT(state)},
	{0},
};
static const struct cli_option events_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"from", CLI_NUMBER, "SEQ", "begin with the event of this seq", AT(from)},
	{"count", CLI_NUMBER, "N", "so many of them; default: all", AT(count)},
	{"own", CLI_FLAG, NULL, "without those that it shares with its parent", AT(own)},
	{"type", CLI_TEXT, "TYPE", "those of this type alone", AT(type)},
	{0},
};

static char *printable(const char *text, size_t max)
{
	return str_printable(text, strlen(text), max);
}

/* A line, or in an array. */
static int list_one(void *context, const struct ledger_run *r, struct error *err)
{
	json_t *list = context;
	autofree char *id = printable(r->id, 100), *label = printable(r->label ? r->label : "", 60);

	(void)err;
	if (list) {
		json_add(list, cli_runs_json(r));
		return 0;
	}
	printf("%s  %s  %" PRIu64 " events", id, r->created, r->last);
	if (r->parent)
		printf("  fork of %s at %s", r->parent, r->at ? r->at : "its beginning");
	printf("%s%s\n", *label ? "  " : "", label);
	return 0;
}

static int run_list(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	auto_json json_t *list = v->json ? json_array() : NULL;
	struct error err;

	if (!cli_words_are(argv, 0, 0, "runs list"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		ledger_run_each(l, list_one, list, &err) < 0)
		return cli_runs_fail(&err);
	if (list)
		cli_print_json(json_incref(list));
	return 0;
}

static int show_state(struct ledger *l, const char *run, struct error *err)
{
	auto_runtime struct runtime *r = NULL;
	auto_bytes struct bytes text = {0};
	struct runtime_log log;

	if (runtime_log_of_run(l, run, &log, err) < 0)
		return -1;
	r = runtime_new(&log, 0);
	if (runtime_load(r, err) < 0)
		return -1;
	graph_write(runtime_graph(r), &text);
	bytes_put_u8(&text, '\n');
	fwrite(text.data, 1, text.len, stdout);
	return 0;
}

static void show_line(const char *name, const char *text)
{
	autofree char *safe = text ? printable(text, LEDGER_LABEL_MAX) : NULL;

	if (safe)
		printf("%-8s %s\n", name, safe);
}

static int run_show(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	auto_ledger_run struct ledger_run r = {0};
	uint64_t events, own;
	struct error err;

	if (!cli_words_are(argv, 1, 1, "runs show RUN"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		ledger_run_get(l, argv[0], &r, &err) < 0)
		return cli_runs_fail(&err);
	if (v->state)
		return show_state(l, r.id, &err) < 0 ? cli_runs_fail(&err) : 0;
	if (ledger_count(l, r.id, 0, NULL, &events, &err) < 0 ||
		ledger_count(l, r.id, r.shared + 1, NULL, &own, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json) {
		json_t *o = cli_runs_json(&r);

		json_put(o, "events", json_u64(events));
		json_put(o, "own_events", json_u64(own));
		json_put(o, "schema",
			json_str(ledger_kind(l) == LEDGER_OURS ? "sandglass" : "activegraph"));
		cli_print_json(o);
		return 0;
	}
	show_line("run", r.id);
	show_line("created", r.created);
	show_line("parent", r.parent);
	show_line("at", r.at);
	show_line("label", r.label);
	show_line("goal", r.goal);
	printf("events   %" PRIu64 ", of which %" PRIu64 " are its own\n", events, own);
	return 0;
}

static void print_event(const struct values *v, const struct ledger_event *e)
{
	auto_bytes struct bytes line = {0};
	autofree char *payload = NULL, *id = NULL, *type = NULL, *actor = NULL;

	if (v->json) {
		ledger_line_write(&line, e, NULL);
		bytes_put_u8(&line, '\n');
		fwrite(line.data, 1, line.len, stdout);
		return;
	}
	payload = str_printable(e->payload, e->payload_len, 200);
	id = printable(e->id, LEDGER_ID_MAX);
	type = printable(e->type, LEDGER_ID_MAX);
	actor = printable(e->actor ? e->actor : "-", LEDGER_ID_MAX);
	printf("%s  %s  %s  %s\n", id, type, actor, payload);
}

static int print_events(
	const struct values *v, struct ledger *l, const char *run, struct error *err)
{
	auto_ledger_cursor struct ledger_cursor *c = NULL;
	auto_ledger_run struct ledger_run r = {0};
	uint64_t from = v->from, shown = 0;
	struct ledger_event e;
	int got;

	if (ledger_run_get(l, run, &r, err) < 0)
		return -1;
	if (v->own && from <= r.shared)
		from = r.shared + 1;
	if (ledger_events(l, run, from, 0, &c, err) < 0)
		return -1;
	while ((!v->count || shown < v->count) && (got = ledger_next(c, &e, err)) != 0) {
		if (got < 0)
			return -1;
		if (v->type && strcmp(v->type, e.type) != 0)
			continue;
		print_event(v, &e);
		shown++;
	}
	return 0;
}

static int run_events(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	struct error err;

	if (!cli_words_are(argv, 1, 1, "runs events RUN"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		print_events(v, l, argv[0], &err) < 0) {
		fflush(stdout);
		return cli_runs_fail(&err);
	}
	return 0;
}

#define COMMAND(verb, words, about, more) \
	const struct cli_command command_runs_##verb = {.name = "runs " #verb, \
		.arguments = words, \
		.summary = about, \
		.details = more, \
		.options = verb##_options, \
		.size = sizeof(struct values), \
		.json = AT(json), \
		.interleaved = true, \
		.run = run_##verb, \
		.usage_status = 2}

COMMAND(list, "", "List the runs of a ledger", NULL);
COMMAND(show, "RUN", "Show a run, or what its events project to",
	"--state prints one JSON object with or without --json.\n");
COMMAND(events, "RUN", "Print the events of a run",
	"Those that it shares with its parent first. With --json a line is an event.\n");
