/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass runs new, append, fork, verify, compact, export, import: what changes or checks a
 * ledger. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/session.h"
#include "cli/store.h"
#include "history/history.h"
#include "ledger/lines.h"
#include "runtime/runtime.h"

struct values {
	struct cli_runs runs;
	const char *label, *goal, *at;
	const char *type, *payload, *actor, *cause, *out;
	uint64_t batch;
	bool block, json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option new_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"label", CLI_TEXT, "TEXT", "a name for people", AT(label)},
	{"goal", CLI_TEXT, "TEXT", "what the run is for; its forks take it over", AT(goal)},
	{0},
};
static const struct cli_option append_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"type", CLI_TEXT, "TYPE", "append one event of this type, and read no lines", AT(type)},
	{"payload", CLI_TEXT, "JSON", "with --type: its payload; default: {}", AT(payload)},
	{"actor", CLI_TEXT, "NAME", "with --type: who did it", AT(actor)},
	{"caused-by", CLI_TEXT, "EVENT", "with --type: the event that it follows from", AT(cause)},
	{"batch", CLI_NUMBER, "N", "lines a transaction; default: 1000", AT(batch)},
	{"block", CLI_FLAG, NULL, "all lines are one block, which no fork may cut", AT(block)},
	{0},
};
static const struct cli_option fork_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"at", CLI_TEXT, "EVENT", "the last event to share; default: the last there is", AT(at),
		"Of a run that 'sandglass run --save' has saved it may be the number of a record; "
		"0 is "
		"its beginning."},
	{"label", CLI_TEXT, "TEXT", "a name for people", AT(label)},
	{0},
};
static const struct cli_option store_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{0},
};
static const struct cli_option export_options[] = {
	CLI_RUNS_OPTIONS(runs),
	{"out", CLI_TEXT, "FILE", "write it there; default: standard output", AT(out)},
	{0},
};

static int run_new(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	char id[LEDGER_ULID];
	struct error err;

	if (!cli_words_are(argv, 0, 0, "runs new"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_MAKE, &l, &err) < 0 ||
		ledger_run_new(l, v->label, v->goal, id, &err) < 0)
		return cli_runs_fail(&err);
	cli_print_one(v->json, "run", id);
	return 0;
}

/* A number is a record's, of a run that was saved: its event takes the number's place. */
static int find_ordinal(struct ledger *l, const char *run, char **at, struct error *err)
{
	uint64_t ordinal;
	char *id;

	if (!*at || strspn(*at, "0123456789") != strlen(*at))
		return 0;
	if (num_parse_u64(*at, INT64_MAX - 1, &ordinal, err) < 0 ||
		history_event(l, run, ordinal, &id, err) < 0)
		return -1;
	free(*at);
	*at = id;
	return 0;
}

static int run_fork(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	autofree char *at = v->at ? mem_strdup(v->at) : NULL;
	char id[LEDGER_ULID];
	struct error err;

	if (!cli_words_are(argv, 1, 1, "runs fork RUN [--at EVENT]"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		find_ordinal(l, argv[0], &at, &err) < 0 ||
		ledger_fork(l, argv[0], at, v->label, id, &err) < 0)
		return cli_runs_fail(&err);
	cli_print_one(v->json, "run", id);
	return 0;
}

/* Standard input for NULL and "-". */
static int open_input(const char *path, int *ret, struct error *err)
{
	*ret = !path || strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					       : open(path, O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? error_sys(err, "open '%.300s'", path ? path : "-") : 0;
}

static int append_one(const struct values *v, struct ledger_writer *w, struct error *err)
{
	const char *payload = v->payload ? v->payload : "{}";
	struct ledger_new e = {.type = v->type,
		.payload = payload,
		.payload_len = strlen(payload),
		.actor = v->actor,
		.caused_by = v->cause};

	return ledger_append(w, &e, 1, false, err);
}

static int append(const struct values *v, struct ledger_writer *w, const char *path,
	uint64_t *ret_count, struct error *err)
{
	autoclose int fd = -1;

	*ret_count = 1;
	if (v->type)
		return append_one(v, w, err);
	if (open_input(path, &fd, err) < 0)
		return -1;
	return ledger_append_lines(w, fd, v->batch ? v->batch : 1000, v->block, ret_count, err);
}

static int run_append(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	auto_ledger_writer struct ledger_writer *w = NULL;
	struct error err;
	uint64_t count;

	if (!cli_words_are(argv, 1, 2, "runs append RUN [FILE|-]"))
		return STATUS_USAGE;
	if (v->type ? argv[1] || v->block || v->batch : v->payload || v->actor || v->cause) {
		cli_say("--type appends one event, with --payload, --actor and --caused-by; "
			"without it lines are read, with --batch and --block");
		return STATUS_USAGE;
	}
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		ledger_writer_open(l, argv[0], &w, &err) < 0 ||
		append(v, w, argv[1], &count, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "appended", json_u64(count));
		json_put(o, "event", count ? json_str(ledger_writer_id(w)) : json_null());
		cli_print_json(o);
	} else if (count) {
		printf("%s\n", ledger_writer_id(w));
	}
	return 0;
}

static void tell_fault(void *context, const char *run, const char *fault)
{
	json_t *list = context;
	autofree char *safe = str_printable(fault, strlen(fault), 1000);

	if (list) {
		json_t *o = json_object();

		json_put(o, "fault", json_bytes(fault, strlen(fault)));
		json_put(o, "run", run ? json_str(run) : json_null());
		json_add(list, o);
	} else {
		printf("%s%s%s\n", run ? run : "", run ? ": " : "", safe);
	}
}

static int run_verify(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	auto_json json_t *faults = v->json ? json_array() : NULL;
	struct error err;
	uint64_t count;

	if (!cli_words_are(argv, 0, 0, "runs verify"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		ledger_verify(l, tell_fault, faults, &count, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "faults", json_incref(faults));
		json_put(o, "intact", json_boolean(count == 0));
		cli_print_json(o);
	} else {
		printf("%s\n", count ? "NOT intact" : "intact");
	}
	return count ? STATUS_NO : 0;
}

static int run_compact(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	struct error err;
	uint64_t seq;

	if (!cli_words_are(argv, 1, 1, "runs compact RUN"))
		return STATUS_USAGE;
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		runtime_compact(l, argv[0], &seq, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json) {
		json_t *o = json_object();

		json_put(o, "covers", json_u64(seq));
		cli_print_json(o);
	} else {
		printf("%" PRIu64 "\n", seq);
	}
	return 0;
}

static int run_export(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	auto_ledger_run struct ledger_run r = {0};
	autoclose int fd = -1;
	struct error err;

	if (!cli_words_are(argv, 1, 1, "runs export RUN"))
		return STATUS_USAGE;
	if (v->json && !v->out) {
		cli_say("--json goes with --out: without it the export itself is what is printed");
		return STATUS_USAGE;
	}
	/* Before a file is made for it. */
	if (cli_runs_open(&v->runs, LEDGER_EXISTING, &l, &err) < 0 ||
		ledger_run_get(l, argv[0], &r, &err) < 0)
		return cli_runs_fail(&err);
	fd = v->out ? open(v->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
		    : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0) {
		error_fill_sys(&err, "write '%.300s'", v->out ? v->out : "-");
		return cli_fail(&err, STATUS_USAGE);
	}
	if (ledger_export(l, argv[0], fd, &err) < 0)
		return cli_runs_fail(&err);
	if (v->json)
		cli_print_json(cli_runs_json(&r));
	return 0;
}

static int run_import(void *values, char **argv)
{
	const struct values *v = values;
	auto_ledger struct ledger *l = NULL;
	autoclose int fd = -1;
	char id[LEDGER_ULID];
	struct error err;
	uint64_t count;

	if (!cli_words_are(argv, 0, 1, "runs import [FILE|-]"))
		return STATUS_USAGE;
	if (open_input(argv[0], &fd, &err) < 0)
		return cli_fail(&err, STATUS_USAGE);
	if (cli_runs_open(&v->runs, LEDGER_MAKE, &l, &err) < 0 ||
		ledger_import(l, fd, id, &count, &err) < 0)
		return cli_runs_fail(&err);
	cli_print_one(v->json, "run", id);
	return 0;
}

#define COMMAND(verb, words, about, table, more) \
	const struct cli_command command_runs_##verb = {.name = "runs " #verb, \
		.arguments = words, \
		.summary = about, \
		.details = more, \
		.options = table, \
		.size = sizeof(struct values), \
		.json = AT(json), \
		.interleaved = true, \
		.run = run_##verb, \
		.usage_status = 2}

COMMAND(new, "", "Begin a run in a ledger", new_options,
	"The ledger is made where there is none. The id of the run is printed.\n");
COMMAND(append, "RUN [FILE|-]", "Append events to a run", append_options,
	"Every line is an object with \"type\" and \"payload\" (an object), and where wanted "
	"\"actor\",\n\"caused_by\", \"id\", and \"time\" in ns. The id of the last event is "
	"printed; "
	"it is durable then.\nThe status is 1 when somebody else appends to the run at the same "
	"time.\n");
COMMAND(fork, "RUN", "Fork a run after one of its events", fork_options,
	"Nothing is copied. The id of the fork is printed. A cut within an atomic block is "
	"refused, and the\nmessage names the event where that block ends.\n");
COMMAND(verify, "", "Check every page and row of a ledger", store_options,
	"Exit status: 0 intact; 1 not intact; 2 wrong usage.\n");
COMMAND(compact, "RUN", "Keep a run's state, so that it loads quickly", store_options,
	"The state at the run's end is stored beside the events, which stay, and is where loading "
	"begins.\nThe seq of the last event that it covers is printed.\n");
COMMAND(export, "RUN", "Write a run as JSON lines", export_options,
	"Its whole history, what it shares with its parents too.\n");
COMMAND(import, "[FILE|-]", "Make a run of an export", store_options,
	"All of it or nothing. The run's id is new, and printed; those of the events stay.\n");
