/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass tape export: the bytes that came in, as a file again. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/tape.h"
#include "tape/input.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

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
	.summary = "Write what came on standard input to standard output",
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
