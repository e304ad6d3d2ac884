/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, from commands.def. */
#include <string.h>

#include "cli/commands.h"

static const struct cli_command *const commands[] = {
#define X(symbol) &symbol,
#include "cli/commands.def"
#undef X
};

const struct cli_command *const *cli_commands(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(commands);
	return commands;
}

/* How many of the words are the name: 0 when they are another one. */
static size_t words_of(const char *name, char *const *words)
{
	const char *space = strchr(name, ' ');
	size_t len = space ? (size_t)(space - name) : strlen(name);

	if (!words[0] || strlen(words[0]) != len || memcmp(words[0], name, len) != 0)
		return 0;
	if (!space)
		return 1;
	return words[1] && strcmp(words[1], space + 1) == 0 ? 2 : 0;
}

const struct cli_command *cli_find(char *const *words, size_t *ret_used)
{
	const struct cli_command *found = NULL;

	/* A command may have verbs besides: the longer name counts. */
	*ret_used = 0;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		size_t used = words_of(commands[i]->name, words);

		if (used <= *ret_used)
			continue;
		*ret_used = used;
		found = commands[i];
	}
	return found;
}

const struct cli_command *cli_next_of_group(const char *group, size_t *pos)
{
	size_t len = strlen(group);

	while (*pos < ARRAY_LEN(commands)) {
		const struct cli_command *c = commands[(*pos)++];

		if (strncmp(c->name, group, len) == 0 && c->name[len] == ' ')
			return c;
	}
	return NULL;
}
