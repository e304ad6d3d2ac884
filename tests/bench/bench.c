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

#include "bench.h"
#include "calls.h"
#include "evidence.h"
#include "ledger.h"
#include "network.h"
#include "images.h"
#include "process.h"
#include "sessions.h"
#include "snapshots.h"
#include "project.h"
#include "stops.h"
#include "tapes.h"

enum { ARGS_MAX = 40, ROUNDS = 15 };

/* A tmpfs on either side; inside, /tmp is one. */
#define NATIVE_TMP "/dev/shm"
#define INSIDE_TMP "/tmp"
#define TAR "SH tar cf - /usr/include 2>/dev/null | sha256sum"

struct row {
	const char *what;
	double target;
	const char *work, *baseline; /* bench.h */
	int rounds;		     /* in percent of those asked for: slow rows take fewer */
};

/* N requests of either kind, to a server that is started, and stopped, with them. */
#define REDIS(n) \
	"SH redis-server --port 6399 --save '' --appendonly no --logfile /dev/null & " \
	"until redis-cli -p 6399 ping >/dev/null 2>&1; do sleep 0.01; done; " \
	"redis-benchmark -p 6399 -t set,get -n " n " -c 10 -q >/dev/null && " \
	"redis-cli -p 6399 shutdown nosave; wait"

static const struct row rows[] = {
	{"`clock_gettime` through libc, a mediated call every 8,192 reads", 0.7,
		"LOOPS clock 8000000", "LOOPS clock 0", 100},
	{"raw `getpid`", 1.2, "LOOPS getpid 1000000", "LOOPS getpid 0", 100},
	{"1-byte `write` to a file on tmpfs", 1.2, "LOOPS write 400000 TMP/sandglass-bench",
		"LOOPS write 0 TMP/sandglass-bench", 100},
	{"`gcc -O2` of 2,000 lines", 1.08, "gcc -O2 -c generated.c -o TMP/sandglass-bench.o",
		"/bin/true", 60},
	{"500 x fork and exec of `/bin/true`", 1.3, "LOOPS spawn 500", "LOOPS spawn 0", 60},
	{"`tar cf - /usr/include \\| sha256sum`", 1.8, TAR, "SH :", 60},
	{"200,000 one-byte writes to a pipe with a reader", 30, "LOOPS bytes 200000",
		"LOOPS bytes 0", 20},
	{"`make -j4` of a C project of 50 files of 170 lines", 1.3,
		"SH mkdir -p TMP/sandglass-bench.d && make -sBj4 OUT=TMP/sandglass-bench.d",
		"SH mkdir -p TMP/sandglass-bench.d", 30},
	{"`redis-benchmark` and its server, 10,000 SET and as many GET (10 % of native)", 10,
		REDIS("10000"), REDIS("10"), 30},
};

void must(int r, const struct error *e)
{
	if (r < 0)
		errx(2, "%s", e->msg);
}

void least_add(struct least *l, uint64_t ns)
{
	l->failed = l->failed || ns == PROCESS_FAILED;
	if (!l->some || ns < l->ns)
		l->ns = ns;
	l->some = true;
}

/* Copies a command with its names filled in. */
static void fill_in(const char *command, bool inside, char *text)
{
	while (*command) {
		if (strncmp(command, "LOOPS ", 6) == 0) {
			text = stpcpy(text, "./loops ");
			command += 6;
		} else if (strncmp(command, "TMP/", 4) == 0) {
			text = stpcpy(text, inside ? INSIDE_TMP "/" : NATIVE_TMP "/");
			command += 4;
		} else {
			*text++ = *command++;
		}
	}
	*text = '\0';
}

/* Splits a command into args, after the sandbox's own words when inside is set. */
static void words(
	const struct bench *b, const char *command, bool inside, char *text, const char **args)
{
	size_t n = 0;

	fill_in(command, inside, text);
	if (inside) {
		args[n++] = b->sandglass;
		args[n++] = "run";
		args[n++] = "--timeout";
		args[n++] = "300s";
		args[n++] = "--";
	}
	if (strncmp(text, "SH ", 3) == 0) {
		args[n++] = "sh";
		args[n++] = "-c";
		args[n++] = text + 3;
		text = NULL;
	}
	for (char *word = text ? strtok_r(text, " ", &text) : NULL; word && n < ARGS_MAX - 1;
		word = strtok_r(NULL, " ", &text))
		args[n++] = word;
	args[n] = NULL;
}

uint64_t time_command(const struct bench *b, const char *command, bool inside)
{
	char text[4096];
	const char *args[ARGS_MAX];

	words(b, command, inside, text, args);
	return process_time(args, b->dir, NULL);
}

void print_row(const char *what, const char *target, const char *measured, bool met)
{
	printf("| %s | %s | %s | %s |\n", what, target, measured, met ? "met" : "**not met**");
	fflush(stdout);
}

void print_comparison(const char *what, const char *measured)
{
	printf("| %s | none | %s | for comparison |\n", what, measured);
	fflush(stdout);
}

bool print_failed(const char *what, const char *target)
{
	print_row(what, target, "did not run", false);
	return false;
}

bool print_ratio(const char *what, double target, const struct least *ours, const char *theirs_name,
	const struct least *theirs)
{
	double ratio = (double)ours->ns / (double)theirs->ns;
	char limit[32], measured[120];

	snprintf(limit, sizeof(limit), "at most %gx", target);
	if (theirs->failed)
		return print_failed(what, limit);
	snprintf(measured, sizeof(measured), "%.2fx (%.2f ms, %s %.2f ms)", ratio,
		(double)ours->ns / 1e6, theirs_name, (double)theirs->ns / 1e6);
	print_row(what, limit, measured, ratio <= target);
	return ratio <= target;
}

/* True when the row's target was met. */
static bool run_row(const struct bench *b, const struct row *row)
{
	struct least best[2][2] = {0}; /* [inside][with work] */
	char target[32], measured[96];
	double native, inside;
	int rounds = b->rounds * row->rounds / 100 + 1;
	bool failed = false, met;

	snprintf(target, sizeof(target), "at most %gx", row->target);
	for (int i = 0; i < rounds * 4 && !failed; i++) {
		struct least *l = &best[i / 2 % 2][i % 2];

		least_add(l, time_command(b, i % 2 ? row->work : row->baseline, i / 2 % 2));
		failed = l->failed;
	}
	if (failed)
		return print_failed(row->what, target);
	native = (double)best[0][1].ns - (double)best[0][0].ns;
	inside = (double)best[1][1].ns - (double)best[1][0].ns;
	met = native > 0 && inside <= row->target * native;
	snprintf(measured, sizeof(measured), "%.2fx (%.1f ms, native %.1f ms)",
		native > 0 ? inside / native : 0.0, inside / 1e6, native / 1e6);
	print_row(row->what, target, measured, met);
	return met;
}

static bool start_row(const struct bench *b)
{
	static const char what[] = "start to exit of `/bin/true` against `bwrap --unshare-all`";
	/* A view of the host's programs like ours: read-only, with its own /proc, /dev and /tmp. */
	static const char *const bwrap[] = {"bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink",
		"usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
		"--bind", ".", "/here", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--chdir", "/here", "/bin/true", NULL};
	struct least theirs = {0}, ours = {0};
	char measured[96];
	double ratio;

	for (int i = 0; i < b->rounds * 2 && !theirs.failed && !ours.failed; i++) {
		least_add(&theirs, process_time(bwrap, b->dir, NULL));
		least_add(&ours, time_command(b, "/bin/true", true));
	}
	if (theirs.failed || ours.failed)
		return print_failed(what, "at most 2x");
	ratio = (double)ours.ns / (double)theirs.ns;
	snprintf(measured, sizeof(measured), "%.2fx (%.1f ms, bwrap %.1f ms)", ratio,
		(double)ours.ns / 1e6, (double)theirs.ns / 1e6);
	print_row(what, "at most 2x", measured, ratio <= 2.0);
	return ratio <= 2.0;
}

static uint64_t time_script(const struct bench *b, const char *script)
{
	const char *args[] = {b->sandglass, "run", "--", "sh", "-c", script, NULL};

	return process_time(args, b->dir, NULL);
}

static bool sleep_row(const struct bench *b)
{
	static const char what[] =
		"`date; sleep 2; date; sleep 60; date` over its time without the sleeps";
	struct least with = {0}, without = {0};
	char measured[96];
	double over;

	for (int i = 0; i < b->rounds && !with.failed && !without.failed; i++) {
		least_add(&without, time_script(b, "date; date; date"));
		least_add(&with, time_script(b, "date; sleep 2; date; sleep 60; date"));
	}
	if (with.failed || without.failed)
		return print_failed(what, "at most 15 ms");
	over = ((double)with.ns - (double)without.ns) / 1e6;
	snprintf(measured, sizeof(measured), "%.1f ms (%.1f ms, without %.1f ms)", over,
		(double)with.ns / 1e6, (double)without.ns / 1e6);
	print_row(what, "at most 15 ms", measured, over <= 15.0);
	return over <= 15.0;
}

/* The highest of two loads: many processes, and many files and a pipe. */
static bool memory_row(const struct bench *b)
{
	static const char what[] = "supervisor's own peak memory";
	static const char *const loads[] = {"LOOPS spawn 500", TAR};
	char text[4096], measured[96];
	const char *args[ARGS_MAX];
	long peak = 0;
	bool met;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		long kib;

		words(b, loads[i], true, text, args);
		if (process_time(args, b->dir, &kib) == PROCESS_FAILED)
			return print_failed(what, "at most 8 MiB");
		peak = kib > peak ? kib : peak;
	}
	met = peak > 0 && peak <= 8 * 1024;
	snprintf(measured, sizeof(measured), "%.1f MiB", (double)peak / 1024.0);
	print_row(
		"supervisor's own peak memory", "at most 8 MiB", peak ? measured : "not seen", met);
	return met;
}

static void remove_tree(const char *path)
{
	const char *args[] = {"rm", "-rf", "--", path, NULL};

	if (process_time(args, "/", NULL) == PROCESS_FAILED)
		warnx("%s is left", path);
}

static void copy_program(const char *from, const char *to)
{
	const char *args[] = {"cp", from, to, NULL};

	if (process_time(args, "/", NULL) == PROCESS_FAILED)
		exit(2);
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
	project_generate(b.dir);
	snprintf(path, sizeof(path), "%s/loops", b.dir);
	copy_program(loops, path);
	snprintf(strrchr(loops, '/'), 16, "/nothing");
	snprintf(path, sizeof(path), "%s/nothing", b.dir);
	copy_program(loops, path);

	puts("| what | target | measured | |\n|---|---|---|---|");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		met = run_row(&b, &rows[i]) && met;
	filter_row(&b);
	met = stop_rows(&b) && met;
	met = start_row(&b) && met;
	met = sleep_row(&b) && met;
	met = memory_row(&b) && met;
	met = session_rows(&b) && met;
	met = snapshot_rows(&b) && met;
	met = image_rows(&b) && met;
	met = evidence_rows(&b) && met;
	met = tapes_rows(&b) && met;
	met = ledger_rows(&b) && met;
	met = network_rows(&b) && met;
	calls_table(&b);

	remove_tree(b.dir);
	remove_tree(NATIVE_TMP "/sandglass-bench.d");
	unlink(NATIVE_TMP "/sandglass-bench.o");
	return met ? 0 : 1;
}
