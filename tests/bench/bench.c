/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed against native as a Markdown table: bench SANDGLASS LOOPS [ROUNDS].
 *
 * How it works: each row names a piece of work and the same without its work (the baseline). In
 * every round the four processes - work and baseline, native and in the sandbox - run one after
 * the other on the same CPU, timed from outside by the host's clock. The minimum of each over all
 * rounds is taken, work minus baseline is what the work cost, and the ratio of the two costs is
 * the result. Start-up is thus in no row but its own.
 */
#include <err.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

enum { ARGS_MAX = 40, ROUNDS = 15 };

/* A tmpfs on either side; inside, /tmp is one. */
#define NATIVE_TMP "/dev/shm"
#define INSIDE_TMP "/tmp"

struct row {
	const char *what;
	double target;
	/* Shell words; LOOPS stands for the program loops, TMP for the tmpfs. */
	const char *work, *baseline;
	int rounds; /* a part of the rounds asked for, in percent: slow rows take fewer */
};

static const struct row rows[] = {
	{"`clock_gettime` through libc, a mediated call every 8,192 reads", 0.7,
		"LOOPS clock 8000000", "LOOPS clock 0", 100},
	{"raw `getpid`", 1.2, "LOOPS getpid 1000000", "LOOPS getpid 0", 100},
	{"1-byte `write` to a file on tmpfs", 1.2, "LOOPS write 400000 TMP/sandglass-bench",
		"LOOPS write 0 TMP/sandglass-bench", 100},
	{"`gcc -O2` of 2,000 lines", 1.08, "gcc -O2 -c generated.c -o TMP/sandglass-bench.o",
		"/bin/true", 60},
	{"500 x fork and exec of `/bin/true`", 1.3, "LOOPS spawn 500", "LOOPS spawn 0", 60},
	{"`tar cf - /usr/include \\| sha256sum`", 1.8, "PIPE", "sh -c :", 60},
};

/* The scratch directory: the guest's working directory, native's too. */
struct bench {
	char sandglass[PATH_MAX], dir[64];
	int rounds;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Splits a command into args, after the sandbox's own words when inside is set. */
static void words(
	const struct bench *b, const char *command, bool inside, char *text, const char **args)
{
	size_t n = 0;
	char *out = text;

	if (inside) {
		args[n++] = b->sandglass;
		args[n++] = "run";
		args[n++] = "--";
	}
	if (strcmp(command, "PIPE") == 0) {
		args[n++] = "sh";
		args[n++] = "-c";
		args[n++] = "tar cf - /usr/include 2>/dev/null | sha256sum";
		args[n] = NULL;
		return;
	}
	for (const char *p = command; *p && n < ARGS_MAX - 1;) {
		size_t len = strcspn(p, " ");

		args[n++] = out;
		if (len == 5 && strncmp(p, "LOOPS", 5) == 0)
			out += sprintf(out, "./loops") + 1;
		else if (strncmp(p, "TMP/", 4) == 0)
			out += sprintf(out, "%s%.*s", inside ? INSIDE_TMP : NATIVE_TMP,
				       (int)len - 3, p + 3) +
			       1;
		else
			out += sprintf(out, "%.*s", (int)len, p) + 1;
		p += len;
		p += strspn(p, " ");
	}
	args[n] = NULL;
}

static uint64_t time_command(const struct bench *b, const char *command, bool inside)
{
	char text[4096];
	const char *args[ARGS_MAX];

	words(b, command, inside, text, args);
	return process_time(args, b->dir, NULL);
}

static void print_row(const char *what, const char *target, const char *measured, bool met)
{
	printf("| %s | %s | %s | %s |\n", what, target, measured, met ? "met" : "**not met**");
	fflush(stdout);
}

/* True when the row's target was met. */
static bool run_row(const struct bench *b, const struct row *row)
{
	/* [inside][with work] */
	uint64_t best[2][2] = {{UINT64_MAX, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
	char target[32], measured[96];
	double native, inside;
	int rounds = b->rounds * row->rounds / 100;
	bool met;

	for (int round = 0; round < (rounds ? rounds : 1); round++)
		for (int in = 0; in < 2; in++)
			for (int work = 0; work < 2; work++)
				best[in][work] = least(best[in][work],
					time_command(b, work ? row->work : row->baseline, in));
	native = (double)best[0][1] - (double)best[0][0];
	inside = (double)best[1][1] - (double)best[1][0];
	met = native > 0 && inside <= row->target * native;
	snprintf(target, sizeof(target), "at most %gx", row->target);
	snprintf(measured, sizeof(measured), "%.2fx (%.1f ms, native %.1f ms)",
		native > 0 ? inside / native : 0.0, inside / 1e6, native / 1e6);
	print_row(row->what, target, measured, met);
	return met;
}

static bool start_row(const struct bench *b)
{
	/* A view of the host's programs like ours: read-only, with its own /proc, /dev and /tmp. */
	static const char *const bwrap[] = {"bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink",
		"usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
		"--bind", ".", "/here", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--chdir", "/here", "/bin/true", NULL};
	uint64_t theirs = UINT64_MAX, ours = UINT64_MAX;
	char measured[96];
	bool met;

	for (int round = 0; round < b->rounds * 2; round++) {
		theirs = least(theirs, process_time(bwrap, b->dir, NULL));
		ours = least(ours, time_command(b, "/bin/true", true));
	}
	met = (double)ours <= 2.0 * (double)theirs;
	snprintf(measured, sizeof(measured), "%.2fx (%.1f ms, bwrap %.1f ms)",
		(double)ours / (double)theirs, (double)ours / 1e6, (double)theirs / 1e6);
	print_row("start to exit of `/bin/true` against `bwrap --unshare-all`", "at most 2x",
		measured, met);
	return met;
}

static uint64_t time_script(const struct bench *b, const char *script)
{
	const char *args[] = {b->sandglass, "run", "--", "sh", "-c", script, NULL};

	return process_time(args, b->dir, NULL);
}

static bool sleep_row(const struct bench *b)
{
	uint64_t with = UINT64_MAX, without = UINT64_MAX;
	char measured[96];
	double over;

	for (int round = 0; round < b->rounds; round++) {
		without = least(without, time_script(b, "date; date; date"));
		with = least(with, time_script(b, "date; sleep 2; date; sleep 60; date"));
	}
	over = ((double)with - (double)without) / 1e6;
	snprintf(measured, sizeof(measured), "%.1f ms (%.1f ms, without %.1f ms)", over,
		(double)with / 1e6, (double)without / 1e6);
	print_row("`date; sleep 2; date; sleep 60; date` over its time without the sleeps",
		"at most 15 ms", measured, over <= 15.0);
	return over <= 15.0;
}

/* The highest of two loads: many processes, and many files and a pipe. */
static bool memory_row(const struct bench *b)
{
	static const char *const loads[] = {"LOOPS spawn 500", "PIPE"};
	char text[4096], measured[96];
	const char *args[ARGS_MAX];
	long peak = 0;
	bool met;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		long kib;

		words(b, loads[i], true, text, args);
		process_time(args, b->dir, &kib);
		peak = kib > peak ? kib : peak;
	}
	met = peak > 0 && peak <= 8 * 1024;
	snprintf(measured, sizeof(measured), "%.1f MiB", (double)peak / 1024.0);
	print_row(
		"supervisor's own peak memory", "at most 8 MiB", peak ? measured : "not seen", met);
	return met;
}

/* 2,000 lines: 250 functions of eight lines, no two alike. */
static void generate_source(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		err(2, "%s", path);
	for (int i = 0; i < 250; i++)
		fprintf(f,
			"int work%d(int *values, int count)\n{\n\tint sum = %d;\n"
			"\tfor (int i = 0; i < count; i++)\n"
			"\t\tsum = sum * %d + (values[i] ^ (sum >> %d));\n"
			"\tvalues[0] = sum;\n\treturn sum > %d ? sum : -sum;\n}\n",
			i, i * 7, i % 31 + 2, i % 13 + 1, i * 1000);
	if (fclose(f) != 0)
		err(2, "%s", path);
}

static void copy_program(const char *from, const char *to)
{
	const char *args[] = {"cp", from, to, NULL};

	process_time(args, "/", NULL);
}

int main(int argc, char **argv)
{
	struct bench b = {.dir = "/var/tmp/sandglass-bench-XXXXXX", .rounds = ROUNDS};
	char path[PATH_MAX], loops[PATH_MAX];
	bool met = true;

	if (argc < 3 || !realpath(argv[1], b.sandglass) || !realpath(argv[2], loops))
		errx(2, "usage: bench SANDGLASS LOOPS [ROUNDS]");
	if (argc > 3)
		b.rounds = (int)strtol(argv[3], NULL, 10);
	if (b.rounds < 1 || b.rounds > 1000)
		errx(2, "ROUNDS is a number from 1 to 1000, not '%s'", argv[3]);
	if (!mkdtemp(b.dir) || chmod(b.dir, 0755) != 0)
		err(2, "%s", b.dir);
	snprintf(path, sizeof(path), "%s/generated.c", b.dir);
	generate_source(path);
	snprintf(path, sizeof(path), "%s/loops", b.dir);
	copy_program(loops, path);

	puts("| what | target | measured | |\n|---|---|---|---|");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		met = run_row(&b, &rows[i]) && met;
	met = start_row(&b) && met;
	met = sleep_row(&b) && met;
	met = memory_row(&b) && met;

	for (const char *const *name = (const char *const[]){"generated.c", "loops", NULL}; *name;
		name++) {
		snprintf(path, sizeof(path), "%s/%s", b.dir, *name);
		unlink(path);
	}
	unlink(NATIVE_TMP "/sandglass-bench.o");
	rmdir(b.dir);
	return met ? 0 : 1;
}
