/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass explore: a program under other orders of its tasks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "run/explore.h"
#include "run/explored.h"

#define AT(field) offsetof(struct explore_options, field)

enum { RUNS_DEFAULT = 200 };

static const struct cli_option options[] = {
	{"runs", CLI_NUMBER, "N", "try the seeds 1 to N; default: 200", AT(runs)},
	{"jobs", CLI_NUMBER, "J", "this many runs side by side; default: 1", AT(jobs)},
	/* From here on they are those of run. */
	{"rootfs", CLI_TEXT, "DIR", "as for run, like all that follow", AT(run.rootfs)},
	{"bind-ro", CLI_LIST, "SRC[:DST]", "show a file or directory of the host, read-only",
		AT(run.bind_ro)},
	{"bind", CLI_LIST, "SRC[:DST]", "share a file or directory with the host", AT(run.bind)},
	{"workdir", CLI_TEXT, "DIR", "where the program starts", AT(run.workdir)},
	{"env", CLI_LIST, "NAME=VALUE", "set an environment variable", AT(run.env)},
	{"workflow-id", CLI_TEXT, "ID", "seed of everything random", AT(run.workflow_id)},
	{"epoch", CLI_TEXT, "TIME", "what the clock says at the start", AT(run.epoch)},
	{"clock-step-ns", CLI_NUMBER, "N", "let the clock move by N ns whenever it is read",
		AT(run.clock_step_ns)},
	{"memory", CLI_SIZE, "SIZE", "memory limit", AT(run.memory)},
	{"pids", CLI_NUMBER, "N", "limit of processes and threads", AT(run.pids)},
	{"network", CLI_TEXT, "none", "loopback alone", AT(run.network)},
	{"timeout", CLI_DURATION, "TIME", "kill each run after this much time of the host",
		AT(run.timeout_ns)},
	{0},
};

static bool is_terminal;

static void show_progress(const char *what, size_t done, size_t of)
{
	if (!is_terminal)
		return;
	if (of)
		fprintf(stderr, "\r%s: %zu of %zu\033[K", what, done, of);
	else
		fprintf(stderr, "\r%s\033[K", what);
	fflush(stderr);
}

static void clear_progress(void)
{
	if (is_terminal)
		fputs("\r\033[K", stderr);
}

static void add_word(struct bytes *b, const char *name, const char *value)
{
	autofree char *quoted = explored_quote(value);
	autofree char *text = str_format("--%s %s ", name, quoted);

	bytes_put(b, text, strlen(text));
}

/* The options of run that were given, so that a line can be copied. --timeout is the host's. */
static char *words_of(const struct explore_options *x)
{
	auto_bytes struct bytes b = {0};

	for (const struct cli_option *o = options + 2; o->name; o++) {
		const void *at = (const char *)x + o->offset;
		const struct run_list *list = at;
		const char *const *text = at;
		const uint64_t *number = at;
		autofree char *digits = NULL;

		if (o->kind == CLI_TEXT && *text)
			add_word(&b, o->name, *text);
		for (size_t i = 0; o->kind == CLI_LIST && i < list->count; i++)
			add_word(&b, o->name, list->items[i]);
		if ((o->kind != CLI_NUMBER && o->kind != CLI_SIZE) || !*number)
			continue;
		digits = str_format("%llu", (unsigned long long)*number);
		add_word(&b, o->name, digits);
	}
	bytes_put_u8(&b, 0);
	return mem_strdup((const char *)b.data);
}

static int run(void *values, char **argv)
{
	struct explore_options *x = values;
	autofree char *text = NULL, *words = words_of(x);
	struct error err = {0};
	bool found = false;
	int r;

	x->run.argv = argv;
	x->words = words;
	if (!x->runs)
		x->runs = RUNS_DEFAULT;
	if (!argv[0]) {
		cli_say("no command to run; for example: sandglass explore -- ./program");
		return 2;
	}
	is_terminal = isatty(2);
	r = explore_execute(x, cli_say, show_progress, &found, &text, &err);
	clear_progress();
	if (r < 0)
		return cli_fail(&err, 2);
	printf("%s\n", text);
	return found;
}

const struct cli_command command_explore = {
	.name = "explore",
	.arguments = "[--] COMMAND [ARGUMENT...]",
	.summary = "Look for an order of a program's tasks that changes what it does",
	.details =
		"Runs the program by the usual order of tasks, and then with --sched-seed 1, 2, "
		"... until the exit status, the\n"
		"output or the files that it writes are others. Then the switches that this seed "
		"forced are shrunk to the\n"
		"fewest, and the command is printed that does it again.\n"
		"\n"
		"Exit status: 0 nothing was found, 1 something was, 2 usage, set-up failed, or "
		"interrupted\n",
	.options = options,
	.size = sizeof(struct explore_options),
	.json = AT(run.json),
	.run = run,
	.usage_status = 2,
};
