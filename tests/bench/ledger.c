/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the ledger: see ledger.h. One run of 50,000 events, one of 5,000,000. */
#include "ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "runtime/runtime.h"
#include "trials.h"

enum { MS = 1000000, BATCH = 10000, TINY = 1000, SHORT = 50000, LONG = 5000000, FORKS = 20 };

/* Two thirds make objects, one third patches them: a run that a program of this kind writes. */
static void fill_batch(struct ledger_new list[BATCH], char texts[BATCH][200], uint64_t first)
{
	for (uint64_t i = 0; i < BATCH; i++) {
		uint64_t n = first + i;

		if (n % 3 == 2)
			snprintf(texts[i], sizeof(texts[i]),
				"{\"patch\": {\"id\": \"patch_%03" PRIu64
				"\", \"target\": \"task#%" PRIu64
				"\", \"op\": \"update\", \"value\": {\"done\": true}}}",
				n / 3 + 1, n);
		else
			snprintf(texts[i], sizeof(texts[i]),
				"{\"object\": {\"id\": \"task#%" PRIu64
				"\", \"type\": \"task\", \"data\": {\"title\": \"number "
				"%" PRIu64 "\"}, \"version\": 1}, \"id\": \"task#%" PRIu64 "\"}",
				n + 1, n, n + 1);
		list[i] =
			(struct ledger_new){.type = n % 3 == 2 ? "patch.applied" : "object.created",
				.payload = texts[i],
				.payload_len = strlen(texts[i]),
				.actor = "bench"};
	}
}

/* A run of so many events: ns that the appends took. */
static uint64_t make_run(struct ledger *l, uint64_t count, char id[LEDGER_ULID])
{
	auto_ledger_writer struct ledger_writer *w = NULL;
	autofree struct ledger_new *list = mem_array(BATCH, sizeof(*list));
	autofree char(*texts)[200] = mem_array(BATCH, sizeof(*texts));
	struct error e = {0};
	uint64_t spent = 0;

	must(ledger_run_new(l, NULL, NULL, id, &e), &e);
	must(ledger_writer_open(l, id, &w, &e), &e);
	for (uint64_t n = 0; n < count; n += BATCH) {
		size_t some = count - n < BATCH ? (size_t)(count - n) : BATCH;
		uint64_t from;

		fill_batch(list, texts, n);
		from = clock_host_ns();
		must(ledger_append(w, list, some, false, &e), &e);
		spent += clock_host_ns() - from;
	}
	return spent;
}

/* The shortest of several forks in the middle of a run. */
static bool fork_row(struct ledger *l, const char *run, uint64_t events, const char *what)
{
	autofree char *at = str_format("evt_%03" PRIu64, events / 2 + 1);
	struct least least = {0};
	struct error e = {0};
	char measured[40];
	bool met;

	for (int i = 0; i < FORKS; i++) {
		char id[LEDGER_ULID];
		uint64_t from = clock_host_ns();

		must(ledger_fork(l, run, at, NULL, id, &e), &e);
		least_add(&least, clock_host_ns() - from);
	}
	met = least.ns <= 2 * (uint64_t)MS;
	snprintf(measured, sizeof(measured), "%.2f ms", (double)least.ns / MS);
	print_row(what, "at most 2 ms", measured, met);
	return met;
}

static bool append_row(uint64_t spent, uint64_t events)
{
	uint64_t rate = events * 1000 / (spent / MS ? spent / MS : 1);
	char measured[40];

	snprintf(measured, sizeof(measured), "%" PRIu64 " /s", rate);
	print_row("events appended, 10,000 a transaction", "at least 100,000 /s", measured,
		rate >= 100000);
	return rate >= 100000;
}

static bool load_row(struct ledger *l, const char *run)
{
	struct least least = {0};
	struct error e = {0};
	char measured[40];
	bool met;

	for (int i = 0; i < 5; i++) {
		auto_runtime struct runtime *r = NULL;
		struct runtime_log log;
		uint64_t from = clock_host_ns();

		must(runtime_log_of_run(l, run, &log, &e), &e);
		r = runtime_new(&log, 0);
		must(runtime_load(r, &e), &e);
		least_add(&least, clock_host_ns() - from);
	}
	met = least.ns <= 150 * (uint64_t)MS;
	snprintf(measured, sizeof(measured), "%.0f ms", (double)least.ns / MS);
	print_row("a run of 50,000 events loaded and projected", "at most 150 ms", measured, met);
	return met;
}

bool ledger_rows(const struct bench *b)
{
	autofree char *path = str_format("%s/ledger.db", b->dir);
	auto_ledger struct ledger *l = NULL;
	char tiny[LEDGER_ULID], small[LEDGER_ULID], large[LEDGER_ULID];
	struct error e = {0};
	uint64_t spent;
	bool met;

	must(ledger_open(path, LEDGER_MAKE, 0, &l, &e), &e);
	make_run(l, SHORT, small);
	spent = make_run(l, LONG, large);
	met = append_row(spent, LONG);
	met = fork_row(l, small, SHORT, "a run of 50,000 events forked") && met;
	met = fork_row(l, large, LONG, "a run of 5,000,000 events forked") && met;
	met = load_row(l, small) && met;
	make_run(l, TINY, tiny);
	ledger_cleanup(&l);
	met = trial_rows(b, path, (const char *const[]){tiny, small, large}) && met;
	unlink(path);
	return met;
}
