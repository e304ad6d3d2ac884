/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, from commands.def: compiled once for each of the two programs. */
#include <string.h>

#include "cli/commands.h"

static const struct cli_command *const commands[] = {
#define FRONT(symbol) &symbol,
#ifdef SANDGLASS_FRONT
#define ALL(symbol)
#else
#define ALL(symbol) &symbol,
#endif
#include "cli/commands.def"
#undef FRONT
#undef ALL
};

#ifdef SANDGLASS_FRONT
const bool cli_has_all = false;
#else
const bool cli_has_all = true;
#endif

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
