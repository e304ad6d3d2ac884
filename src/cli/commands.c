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

const struct cli_command *cli_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
