/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of tapes: see tapes.h. A long one is checked from end to end; one of many records is
 * opened, and records all over it are sought.
 */
#include "tapes.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "process.h"
#include "tape/check.h"
#include "tape/tape.h"

enum { MS = 1000000, LONG_RECORDS = 16384, LONG_PAYLOAD = 65536, MANY = 1000000, SEEKS = 200 };

static char *make(const struct bench *b, const char *name, uint64_t records, size_t payload)
{
	static const char header[] = "{}";
	autofree char *path = str_format("%s/%s", b->dir, name);
	autofree char *data = mem_alloc(payload);
	auto_tape_writer struct tape_writer *w = NULL;
	struct error e = {0};

	memset(data, 'x', payload);
	must(tape_create(path, header, strlen(header), &w, &e), &e);
	for (uint64_t i = 1; i <= records; i++)
		must(tape_append(w, TAPE_INPUT, 1, i,
			     (struct tape_part[2]){{&i, sizeof(i)}, {data, payload}}, &e),
			&e);
	must(tape_end(w, &e), &e);
	return take_ptr(path);
}

static bool check_row(const struct bench *b)
{
	autofree char *path = make(b, "long.tape", LONG_RECORDS, LONG_PAYLOAD);
	struct least best = {0};
	struct error e = {0};
	char measured[64];
	double rate;

	for (int i = 0; i < b->rounds; i++) {
		auto_tape_reader struct tape_reader *r = NULL;
		struct tape_check c;
		uint64_t from = clock_host_ns();

		must(tape_open(path, &r, &e), &e);
		must(tape_check(r, &c, &e), &e);
		if (c.damage[0] || c.records != LONG_RECORDS)
			errx(2, "the tape is not whole");
		least_add(&best, clock_host_ns() - from);
	}
	unlink(path);
	rate = (double)LONG_RECORDS * LONG_PAYLOAD / (double)best.ns;
	snprintf(measured, sizeof(measured), "%.1f GB/s", rate);
	print_row("a tape of 1 GiB verified", "at least 1 GB/s", measured, rate >= 1);
	return rate >= 1;
}

static bool seek_rows(const struct bench *b)
{
	autofree char *path = make(b, "many.tape", MANY, 20);
	struct least open = {0};
	struct least slowest = {0};
	struct error e = {0};
	char measured[64];

	for (int i = 0; i < b->rounds; i++) {
		auto_tape_reader struct tape_reader *r = NULL;
		struct tape_record record;
		uint64_t from = clock_host_ns(), ordinal = 1, slow = 0;

		must(tape_open(path, &r, &e), &e);
		least_add(&open, clock_host_ns() - from);
		for (int k = 0; k < SEEKS; k++) {
			ordinal = (ordinal * 48271) % MANY + 1;
			from = clock_host_ns();
			if (tape_seek(r, ordinal, &e) <= 0 || tape_next(r, &record, &e) <= 0 ||
				record.ordinal != ordinal)
				errx(2, "record %llu was not found", (unsigned long long)ordinal);
			from = clock_host_ns() - from;
			slow = from > slow ? from : slow;
		}
		least_add(&slowest, slow);
	}
	unlink(path);
	snprintf(measured, sizeof(measured), "%.2f ms", (double)open.ns / MS);
	print_row("a tape of a million records opened", "at most 50 ms", measured,
		open.ns <= 50ull * MS);
	snprintf(measured, sizeof(measured), "%.2f ms", (double)slowest.ns / MS);
	print_row("a record of it sought, the slowest of 200", "at most 5 ms", measured,
		slowest.ns <= 5ull * MS);
	return open.ns <= 50ull * MS && slowest.ns <= 5ull * MS;
}

bool tapes_rows(const struct bench *b)
{
	bool met = check_row(b);

	return seek_rows(b) && met;
}
