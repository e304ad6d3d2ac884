/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass tape export: the bytes that came in, as a file again; or the run, as a page. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/tape.h"
#include "run/picture.h"
#include "run/run.h"
#include "tape/input.h"

struct values {
	bool json, html, override;
};

static const struct cli_option options[] = {
	{"html", CLI_FLAG, NULL, "draw the run as one page of HTML instead",
		offsetof(struct values, html),
		"The tape is replayed for it, and what the program says is dropped: a lane a task, "
		"on logical time, with timers, switches, signals and what came from outside, and "
		"all of it as a list too. The page has no script and asks for nothing, so it can "
		"be kept and sent. It shows the first 4000 events. Where the replay is refused, "
		"the records of the tape alone are drawn, and the status is 1."},
	{"override", CLI_FLAG, NULL,
		"with --html: replay where something is not as it was recorded",
		offsetof(struct values, override)},
	{0},
};

/* The tape alone: what was run is not as it was, or not here. */
static int draw_records(char **argv, struct error *err)
{
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;

	return cli_tape_open(argv, &r, &header, err) < 0
		       ? -1
		       : picture_write(1, &(struct picture){.header = header, .tape = r}, err);
}

static int draw(const struct values *v, char **argv)
{
	struct run_options o = {.tape = argv[0], .draw = true, .override = v->override};
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;
	autofree char *report = NULL, *line = NULL;
	struct error err = {0};
	int status = 0;

	if (cli_tape_open(argv, &r, &header, &err) < 0)
		return cli_fail(&err, 2);
	if (run_execute(&o, cli_say, &status, &report, &err) == 0)
		return status == 122 || status == 125 ? 1 : 0;
	line = str_format("the run cannot be made again here, so the page shows the records alone: "
			  "%s",
		err.msg);
	cli_say(line);
	return draw_records(argv, &err) < 0 ? cli_fail(&err, 2) : 1;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;
	struct tape_record record;
	struct tape_input in;
	struct error err;
	uint64_t at;
	int got;

	if (v->json) {
		cli_say("tape export has no JSON; 'tape show --json' gives the records");
		return 2;
	}
	if (v->html)
		return draw(v, argv);
	if (cli_tape_open(argv, &r, &header, &err) < 0)
		return cli_fail(&err, 2);
	while ((got = tape_next(r, &record, &err)) > 0)
		if (tape_input_decode(&record, &in) == 0 && in.len &&
			fwrite(in.data, 1, in.len, stdout) != in.len) {
			error_sys(&err, "write standard output");
			return cli_fail(&err, 2);
		}
	if (got < 0)
		return cli_fail(&err, 2);
	if (tape_damage(r, &at)) {
		cli_say("the tape is cut: this is what came before that");
		return 1;
	}
	return 0;
}

const struct cli_command command_tape_export = {
	.name = "tape export",
	.arguments = "TAPE",
	.summary = "Write what came on standard input to standard output, or the run as a page",
	.details =
		"The same bytes once more, without their times: for another run of the program, or "
		"to look at them.\n"
		"The status is 1 when the tape is cut or damaged.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
