/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the bench have in common. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The scratch directory: the guest's working directory, native's too. */
struct bench {
	char sandglass[PATH_MAX], dir[64];
	int rounds;
};

/* The shortest of several times; one failure fails them all, since luck is no measurement. */
struct least {
	uint64_t ns;
	bool some, failed;
};

/* Ends the bench with the error's words when r is negative. */
void must(int r, const struct error *e);
void least_add(struct least *l, uint64_t ns);
/*
 * Runs a command, natively or in the sandbox: its time, or PROCESS_FAILED. It is words with single
 * spaces between, or a script after "SH "; "LOOPS " in it stands for the program of loops.c, "TMP/"
 * for the directory of a tmpfs.
 */
uint64_t time_command(const struct bench *b, const char *command, bool inside);
void print_row(const char *what, const char *target, const char *measured, bool met);
/* A row of ours against theirs: whether the ratio of the two times is at most target. */
bool print_ratio(const char *what, double target, const struct least *ours, const char *theirs_name,
	const struct least *theirs);
/* A row without a target. */
void print_comparison(const char *what, const char *measured);
/* False. */
bool print_failed(const char *what, const char *target);

#endif
