/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of commands.def, one a file cmd_NAME.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

#define X(symbol) extern const struct cli_command symbol;
#include "cli/commands.def"
#undef X

#endif
