/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass help: all commands, or one. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "codec/json.h"

struct values {
	bool json;
};

static const struct cli_option options[] = {{0}};

static void print_json(void)
{
	size_t count;
	const struct cli_command *const *commands = cli_commands(&count);
	auto_json json_t *list = json_array();
	autofree char *text = NULL;

	for (size_t i = 0; i < count; i++) {
		json_t *entry = json_object(), *names = json_array();

		for (const struct cli_option *o = commands[i]->options; o->name; o++)
			json_add(names, json_str(o->name));
		json_put(entry, "name", json_str(commands[i]->name));
		json_put(entry, "summary", json_str(commands[i]->summary));
		json_put(entry, "options", names);
		json_add(list, entry);
	}
	text = json_text(list);
	printf("%s\n", text);
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	const struct cli_command *c;
	size_t used;

	if (v->json) {
		print_json();
		return 0;
	}
	if (!argv[0]) {
		cli_help_all();
		return 0;
	}
	c = cli_find(argv, &used);
	if (!c && cli_help_group(argv[0]))
		return 0;
	if (!c) {
		autofree char *safe = str_printable(argv[0], strlen(argv[0]), 60);
		autofree char *line =
			str_format("no command '%s'; 'sandglass help' lists them", safe);

		cli_say(line);
		return 2;
	}
	cli_help(c);
	return 0;
}

const struct cli_command command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "Tell about all commands, or about one",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.run = run,
	.usage_status = 2,
};
