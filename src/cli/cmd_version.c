/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass version. */
#include <stdio.h>

#include "cli/commands.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static int run(void *values, char **argv)
{
	const struct values *v = values;

	if (argv[0]) {
		cli_say("version takes no arguments");
		return 2;
	}
	printf(v->json ? "{\"version\":\"%s\"}\n" : "sandglass %s\n", SANDGLASS_VERSION);
	return 0;
}

const struct cli_command command_version = {
	.name = "version",
	.arguments = "",
	.summary = "Print the version",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.run = run,
	.usage_status = 2,
};
