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

static json_t *text_or_null(const char *text)
{
	return text ? json_str(text) : json_null();
}

static json_t *option_json(const struct cli_option *o)
{
	json_t *entry = json_object();

	json_put(entry, "name", json_str(o->name));
	json_put(entry, "value", text_or_null(o->value));
	json_put(entry, "help", json_str(o->help));
	json_put(entry, "more", text_or_null(o->more));
	return entry;
}

/* All that the manual's pages are made of. */
static json_t *command_json(const struct cli_command *c)
{
	json_t *entry = json_object(), *rows = json_array();

	for (const struct cli_option *o = c->options; o->name; o++)
		json_add(rows, option_json(o));
	json_put(entry, "name", json_str(c->name));
	json_put(entry, "arguments", json_str(c->arguments));
	json_put(entry, "summary", json_str(c->summary));
	json_put(entry, "details", text_or_null(c->details));
	json_put(entry, "options", rows);
	return entry;
}

/* The commands whose names begin with these words, each word whole; all when there is none. */
static int print_json(char **words)
{
	size_t count, given = 0;
	const struct cli_command *const *commands = cli_commands(&count);
	auto_json json_t *list = json_array();
	autofree char *prefix = mem_strdup(""), *text = NULL;

	for (; words[given]; given++) {
		autofree char *shorter = prefix;

		prefix = str_format("%s%s ", shorter, words[given]);
	}
	for (size_t i = 0; i < count; i++) {
		autofree char *name = str_format("%s ", commands[i]->name);

		if (strncmp(name, prefix, strlen(prefix)) == 0)
			json_add(list, command_json(commands[i]));
	}
	if (json_array_size(list) == 0)
		return -1;
	text = json_text(list);
	printf("%s\n", text);
	return 0;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	const struct cli_command *c;
	size_t used;

	if (v->json && print_json(argv) == 0)
		return 0;
	if (!argv[0]) {
		cli_help_all();
		return 0;
	}
	c = v->json ? NULL : cli_find(argv, &used);
	if (!c && !v->json && cli_help_group(argv[0]))
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
	.arguments = "[TOPIC...]",
	.summary = "Tell about all commands, or about one",
	.options = options,
	.size = sizeof(struct values),
	.json = offsetof(struct values, json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
