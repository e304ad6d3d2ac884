/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and options as tables; parsing, help and completion are made from them. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"

enum cli_kind {
	CLI_FLAG,     /* bool: true when given */
	CLI_TEXT,     /* const char * */
	CLI_LIST,     /* struct run_list, may be repeated */
	CLI_NUMBER,   /* uint64_t, from 1 */
	CLI_SIZE,     /* uint64_t bytes */
	CLI_DURATION, /* uint64_t nanoseconds */
};

/* One option: `offset` is where its value goes in the command's own struct. */
struct cli_option {
	const char *name; /* without the two dashes */
	enum cli_kind kind;
	const char *value; /* what the help calls its value; NULL for a flag */
	const char *help;
	size_t offset;
	const char *more; /* sentences that the manual says besides, or NULL */
};

struct cli_command {
	/* One word, or two of which the first is that of a group ("session create"). */
	const char *name, *arguments, *summary;
	const char *details; /* paragraphs after the options, or NULL */
	const struct cli_option
		*options; /* ends with a NULL name; --json and --help are always there */
	size_t size;	  /* of the command's struct */
	size_t json;	  /* offset of its bool json */
	bool interleaved; /* options may stand after and among the words too, until `--` */
	/* argv: what follows the options, NULL-terminated. Returns the exit status. */
	int (*run)(void *values, char **argv);
	int usage_status; /* exit status of a wrong command line */
};

/* Every command in the order of the help; *ret_count of them. */
const struct cli_command *const *cli_commands(size_t *ret_count);
/* The command that the words name, of which it takes *ret_used; NULL when there is none. */
const struct cli_command *cli_find(char *const *words, size_t *ret_used);
/* The commands of a group: from *pos on the next, or NULL. */
const struct cli_command *cli_next_of_group(const char *group, size_t *pos);

/*
 * Reads options until `--` or the first word that is none (see `interleaved`). 0; 1 when --help was
 * among them. Values are written into `values`, of the command's size and zeroed. *ret_rest are the
 * words and what follows `--`; argv is put in another order for it.
 */
MUST_CHECK int cli_parse(const struct cli_command *c, char **argv, void *values, char ***ret_rest,
	struct error *err);
void cli_values_finish(const struct cli_command *c, void *values);

void cli_help(const struct cli_command *c);
/* False when it is the name of no group. */
bool cli_help_group(const char *group);
void cli_help_all(void);
/* "sandglass: LINE" on standard error. */
void cli_say(const char *line);
/* Says the error, and returns the status. */
int cli_fail(const struct error *err, int status);
/* The row of a list of names that is nearest to a word, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

#endif
