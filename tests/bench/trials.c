/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of trials: see trials.h. The candidate is a shared object that does next to nothing. */
#include "trials.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/remove.h"
#include "base/str.h"
#include "pack/pack.h"
#include "process.h"

enum { MS = 1000000, ROUNDS = 20, WALL_MS = 25 };

/* Wall time of the whole command, its own start among it. */
static struct least time_trial(const struct bench *b, const char *store, const char *run,
	const char *pack, const char *pin)
{
	const char *const argv[] = {b->sandglass, "trial", "--store", store, "--run", run, "--pack",
		pack, "--bundle-hash", pin, "--scenario", "pack.so", NULL};
	struct least least = {0};

	for (int i = 0; i < ROUNDS; i++)
		least_add(&least, process_time(argv, b->dir, NULL));
	return least;
}

bool trial_rows(const struct bench *b, const char *store, const char *const runs[3])
{
	static const char what[] = "a trial of a native pack on a run of 1,000 events";
	autofree char *pack = str_format("%s/greeter", b->dir);
	auto_faults struct faults faults = {0};
	auto_bundle struct bundle bundle = {0};
	struct least tiny, small, large;
	autoclose int dir = -1;
	struct error e = {0};
	char measured[40];
	bool met;

	must(pack_scaffold(pack, "c", &e), &e);
	dir = open(pack, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(bundle_take(dir, -1, &bundle, &faults, &e), &e);
	tiny = time_trial(b, store, runs[0], pack, bundle.digest);
	small = time_trial(b, store, runs[1], pack, bundle.digest);
	large = time_trial(b, store, runs[2], pack, bundle.digest);
	(void)!remove_tree(AT_FDCWD, pack, NULL);
	if (tiny.failed || small.failed || large.failed)
		return print_failed(what, "at most 25 ms");
	met = tiny.ns <= WALL_MS * (uint64_t)MS;
	snprintf(measured, sizeof(measured), "%.1f ms", (double)tiny.ns / MS);
	print_row(what, "at most 25 ms", measured, met);
	return print_ratio("one on a run of 5,000,000 events", 1.2, &large, "of 50,000", &small) &&
	       met;
}
