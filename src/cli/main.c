/* SPDX-License-Identifier: Apache-2.0 */
/* The sandglass program: finds the command, reads its options, runs it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

enum { STATUS_USAGE = 2, VERBS_MAX = 64 };

/* A program started with a closed standard stream would open its own files there. */
static void hold_standard_streams(void)
{
	bool has_output = fcntl(1, F_GETFD) >= 0;

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			_exit(STATUS_USAGE);
	/* A program natively fails to write there; ours has a pipe. */
	if (!has_output)
		cli_say("standard output is closed: what is written to it is lost");
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int unknown_verb(const char *group, const char *verb)
{
	autofree char *safe = verb ? str_printable(verb, strlen(verb), 60) : NULL, *line = NULL;
	const char *names[VERBS_MAX], *near = NULL;
	const struct cli_command *c;
	size_t count = 0, pos = 0;

	while (verb && count < VERBS_MAX && (c = cli_next_of_group(group, &pos)))
		names[count++] = strchr(c->name, ' ') + 1;
	if (verb)
		near = cli_nearest(verb, names, count);
	if (near)
		line = str_format(
			"'%s' has no verb '%s'; did you mean '%s %s'?", group, safe, group, near);
	else
		line = safe ? str_format("'%s' has no verb '%s'; 'sandglass help %s' lists them",
				      group, safe, group)
			    : str_format("'%s' needs a verb; 'sandglass help %s' lists them", group,
				      group);
	cli_say(line);
	return STATUS_USAGE;
}

static int unknown_command(const char *word, const char *second)
{
	size_t count, pos = 0;
	const struct cli_command *const *commands = cli_commands(&count);
	autofree char **names = mem_array(count, sizeof(*names));
	autofree char *safe = str_printable(word, strlen(word), 60), *line = NULL;
	const char *near;

	if (cli_next_of_group(word, &pos))
		return unknown_verb(word, second);
	for (size_t i = 0; i < count; i++)
		names[i] = mem_strndup(commands[i]->name, strcspn(commands[i]->name, " "));
	near = cli_nearest(word, (const char *const *)names, count);
	line = near ? str_format("unknown command '%s'; did you mean '%s'?", safe, near)
		    : str_format("unknown command '%s'; 'sandglass help' lists them", safe);
	cli_say(line);
	for (size_t i = 0; i < count; i++)
		mem_cleanup(&names[i]);
	return STATUS_USAGE;
}

static int run_command(const struct cli_command *c, char **argv)
{
	autofree void *values = mem_alloc(c->size);
	struct error err = {0};
	char **rest = NULL;
	int status = cli_parse(c, argv, values, &rest, &err);

	if (status < 0) {
		cli_fail(&err, 0);
		status = c->usage_status;
	} else if (status > 0) {
		cli_help(c);
		status = 0;
	} else {
		status = c->run(values, rest);
	}
	cli_values_finish(c, values);
	return status;
}

/*
 * Under the name dotlab-runner this is the replication runner: `dotlab-runner run ...` is
 * `sandglass replicate ...`, and another word is a verb of it. NULL when it has no such name; else
 * the words (the caller frees the array).
 */
static char **words_of_runner(int argc, char **argv)
{
	static char replicate[] = "replicate";
	const char *slash = strrchr(argv[0], '/');
	char **words;

	if (strcmp(slash ? slash + 1 : argv[0], "dotlab-runner") != 0 || argc < 2 ||
		argv[1][0] == '-')
		return NULL;
	words = mem_array((size_t)argc + 2, sizeof(*words));
	words[0] = argv[0];
	words[1] = replicate;
	memcpy(words + 2, argv + (strcmp(argv[1], "run") == 0 ? 2 : 1),
		(size_t)(argc - (strcmp(argv[1], "run") == 0 ? 2 : 1)) * sizeof(*words));
	return words;
}

/* Output that did not arrive is a failure, whatever the command thinks. */
static int close_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	cli_say("could not write to standard output");
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	autofree char **runner = argc > 0 ? words_of_runner(argc, argv) : NULL;
	const struct cli_command *c;
	char *word;
	char version[] = "version";
	size_t used;

	if (runner)
		argv = runner;
	word = argc > 1 ? argv[1] : NULL;
	hold_standard_streams();
	if (!word) {
		cli_say("no command; 'sandglass help' lists them");
		return STATUS_USAGE;
	}
	if (strcmp(word, "--version") == 0)
		word = version;
	c = cli_find((char *const[]){word, argv[2], NULL}, &used);
	if (c)
		return close_output(run_command(c, argv + 1 + used));
	if (is_help(word)) {
		cli_help_all();
		return close_output(0);
	}
	if (argv[2] && is_help(argv[2]) && cli_help_group(word))
		return close_output(0);
	return unknown_command(word, argv[2]);
}
