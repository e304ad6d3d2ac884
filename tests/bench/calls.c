/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See calls.h. Nothing here has a target: the table says what each kind of call costs beside what
 * others make of it. The minimum over the rounds of COUNT times the call, less that of none.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "process.h"

enum { ARGS_MAX = 32, RUNNERS = 4 };

static const struct call {
	const char *what, *kind, *count, *file;
} calls[] = {
	{"`clock_gettime` through libc", "clock", "8000000", NULL},
	{"raw `getpid`", "getpid", "300000", NULL},
	{"`stat`", "stat", "20000", NULL},
	{"`fstat`", "fstat", "20000", NULL},
	{"`sched_yield`", "yield", "20000", NULL},
	{"`usleep(1)`", "usleep", "2000", NULL},
	{"`pipe` and two times `close`", "pipe", "10000", NULL},
	{"hand-off between two threads", "hand", "10000", NULL},
	{"round trip between two processes by pipes", "trip", "5000", NULL},
	{"fork, exec and wait, static", "spawn", "200", "./nothing"},
	{"fork, exec and wait, dynamic", "spawn", "200", "/bin/true"},
	{"posix_spawn and wait, static", "pspawn", "200", "./nothing"},
};

static const char *const native[] = {NULL},
			 *const bwrap[] = {"bwrap", "--unshare-all", "--dev-bind", "/", "/", "--",
				 NULL},
			 *const faketime[] = {"faketime", "-f", "2000-01-01 00:00:00", NULL};

static uint64_t time_one(const struct bench *b, const struct call *call, int runner, bool work)
{
	const char *const sandglass[] = {b->sandglass, "run", "--timeout", "300s", "--", NULL};
	const char *const *const before[RUNNERS] = {native, bwrap, faketime, sandglass};
	const char *args[ARGS_MAX];
	size_t n = 0;

	for (const char *const *word = before[runner]; *word; word++)
		args[n++] = *word;
	args[n++] = "./loops";
	args[n++] = call->kind;
	args[n++] = work ? call->count : "0";
	args[n++] = call->file; /* or the end */
	args[n] = NULL;
	return process_time(args, b->dir, NULL);
}

static void row(const struct bench *b, const struct call *call)
{
	struct least least[RUNNERS][2] = {0};
	double count = strtod(call->count, NULL);

	for (int i = 0; i <= b->rounds / 2; i++)
		for (int runner = 0; runner < RUNNERS; runner++)
			for (int work = 0; work < 2; work++)
				least_add(
					&least[runner][work], time_one(b, call, runner, work != 0));
	printf("| %s |", call->what);
	for (int runner = 0; runner < RUNNERS; runner++) {
		double ns = ((double)least[runner][1].ns - (double)least[runner][0].ns) / count;

		if (least[runner][0].failed || least[runner][1].failed)
			printf(" did not run |");
		else if (ns < 1000)
			printf(" %.0f ns |", ns);
		else
			printf(" %.1f us |", ns / 1e3);
	}
	putchar('\n');
	fflush(stdout);
}

void calls_table(const struct bench *b)
{
	puts("\n| one call | native | bubblewrap | faketime | Sandglass |\n|---|---|---|---|---|");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		row(b, &calls[i]);
}
