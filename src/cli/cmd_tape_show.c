/* SPDX-License-Identifier: Apache-2.0 */
/* sandglass tape show: the records of a tape, a line each. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/store.h"
#include "cli/tape.h"

struct values {
	uint64_t from, count;
	bool json;
};

#define AT(field) offsetof(struct values, field)

static const struct cli_option options[] = {
	{"from", CLI_NUMBER, "N", "begin with record N; default: the first", AT(from)},
	{"count", CLI_NUMBER, "N", "so many of them; default: all", AT(count)},
	{0},
};

/* On a terminal the lines go through a pager: $PAGER, or less. 0: there is none. */
static pid_t start_pager(void)
{
	const char *pager = getenv("PAGER");
	int ends[2];
	pid_t pid;

	if (!isatty(STDOUT_FILENO) || pipe(ends) < 0)
		return 0;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		setenv("LESS", "FRX", 0);
		if (pager && *pager)
			execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		else
			execlp("less", "less", (char *)NULL);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	if (pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Who leaves the pager early has seen enough. */
		sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	}
	close(ends[0]);
	close(ends[1]);
	return pid > 0 ? pid : 0;
}

static void end_pager(pid_t pid)
{
	if (!pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pid, NULL, 0) < 0)
		continue;
}

static void show_one(const struct values *v, const struct tape_record *record)
{
	autofree char *line = v->json ? NULL : cli_tape_line(record);

	if (v->json)
		cli_print_json(cli_tape_json(record));
	else
		printf("%s\n", line);
}

static int show_all(const struct values *v, struct tape_reader *r, struct error *err)
{
	struct tape_record record;
	int got = v->from ? tape_seek(r, v->from, err) : 1;

	for (uint64_t i = 0; got > 0 && (!v->count || i < v->count); i++) {
		got = tape_next(r, &record, err);
		if (got > 0)
			show_one(v, &record);
	}
	return got;
}

static int run(void *values, char **argv)
{
	const struct values *v = values;
	auto_tape_reader struct tape_reader *r = NULL;
	auto_json json_t *header = NULL;
	struct error err;
	const char *damage;
	uint64_t at;
	pid_t pager;
	int got;

	if (cli_tape_open(argv, &r, &header, &err) < 0)
		return cli_fail(&err, 2);
	pager = v->json ? 0 : start_pager();
	got = show_all(v, r, &err);
	end_pager(pager);
	if (got < 0)
		return cli_fail(&err, 2);
	damage = got == 0 ? tape_damage(r, &at) : NULL;
	if (damage) {
		error_set(&err, ERR_FORMAT, "the tape is cut at byte %" PRIu64 ": %s", at, damage);
		return cli_fail(&err, 1);
	}
	return 0;
}

const struct cli_command command_tape_show = {
	.name = "tape show",
	.arguments = "TAPE",
	.summary = "Print the records of a tape",
	.details =
		"A line is the ordinal, the logical time in seconds, the task that waited, the "
		"kind, "
		"and what came.\n"
		"On a terminal they go through $PAGER. With --json each record is a line of JSON, "
		"with "
		"all its bytes.\n"
		"The status is 1 when the tape is cut or damaged, after the records before that.\n",
	.options = options,
	.size = sizeof(struct values),
	.json = AT(json),
	.interleaved = true,
	.run = run,
	.usage_status = 2,
};
