/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass replay: the run that a tape is of, again and without what it read from outside. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "run/run.h"

#define AT(field) offsetof(struct run_options, field)

static const struct cli_option options[] = {
	{"verify", CLI_FLAG, NULL, "replay it twice under different conditions and compare",
		AT(verify)},
	{"override", CLI_FLAG, NULL,
		"go on where something is not as it was recorded; the run is not enforced then",
		AT(override)},
	{"image", CLI_TEXT, "REF", "the image that the recorded run had, for --runtime", AT(image)},
	{"runtime", CLI_TEXT, "docker|podman|nerdctl",
		"replay in a container that this makes; default: natively", AT(runtime)},
	{"out", CLI_TEXT, "DIR", "copy what the program wrote into this new or empty directory",
		AT(out)},
	{"timeout", CLI_DURATION, "TIME",
		"kill it after this much time of the host, like 30s; default: never",
		AT(timeout_ns)},
	{"trace", CLI_TEXT, "FILE", "write a line for each decision of the run", AT(trace)},
	{"report", CLI_TEXT, "FILE", "write a JSON report of the run", AT(report)},
	{0},
};

static int run(void *values, char **argv)
{
	struct run_options *o = values;
	autofree char *text = NULL;
	struct error err = {0};
	int status = 0;

	if (!argv[0] || argv[1]) {
		cli_say("replay takes one tape; for example: sandglass replay run.tape");
		return 125;
	}
	o->tape = argv[0];
	if (run_execute(o, cli_say, &status, &text, &err) < 0)
		return cli_fail(&err, error_status(&err));
	if (o->json && text)
		fprintf(stderr, "%s\n", text);
	return status;
}

const struct cli_command command_replay = {
	.name = "replay",
	.arguments = "TAPE",
	.summary = "Run what a tape was recorded of again, with the input that it holds",
	.details = "The program, its arguments and all that decides the run come from the tape, "
		   "and so "
		   "does what it read\n"
		   "from outside. The files that it sees have to be those of the recording.\n"
		   "\n"
		   "Exit status: as for sandglass run, and 122 when the run parts from its "
		   "recording.\n",
	.options = options,
	.size = sizeof(struct run_options),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = 125,
};
