/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass resume: a run that was killed, made again up to there, and on from there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "run/run.h"

#define AT(field) offsetof(struct run_options, field)

static const struct cli_option options[] = {
	{"input-again", CLI_FLAG, NULL,
		"standard input is what the run was given at first, from its start",
		AT(input_again),
		"What the journal has of it is passed over. Without this option standard input "
		"begins with what the run has not read."},
	{"override", CLI_FLAG, NULL,
		"go on where something is not as it was recorded; the run is not enforced then",
		AT(override)},
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
		cli_say("resume takes one journal; for example: sandglass resume run.journal");
		return 125;
	}
	o->tape = argv[0];
	o->resume = true;
	if (run_execute(o, cli_say, &status, &text, &err) < 0)
		return cli_fail(&err, error_status(&err));
	if (o->json && text)
		fprintf(stderr, "%s\n", text);
	return status;
}

const struct cli_command command_resume = {
	.name = "resume",
	.arguments = "JOURNAL",
	.summary = "Go on with a run that was killed, from its journal",
	.details = "The run is made again up to where it died, with the input that the journal "
		   "holds, which costs no\n"
		   "waiting; from there on it reads standard input. What had gone out is not "
		   "said again. The files that\n"
		   "the program sees have to be those of the first time. It may be killed and "
		   "resumed any number of times.\n"
		   "\n"
		   "Exit status: as for sandglass run, and 122 when the run parts from its "
		   "journal.\n",
	.options = options,
	.size = sizeof(struct run_options),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = 125,
};
