/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the bench with a comparison of their own: see stops.h. */
#include "stops.h"

#include <stdio.h>

#include "process.h"

enum { STOPS = 20000, CALLS = 1000000 };

static const struct row {
	const char *what;
	double target; /* in stops */
	const char *work, *baseline;
	int count; /* of the work */
} rows[] = {
	{"hand-off between two threads, by mutex and condition variable", 4, "LOOPS hand 10000",
		"LOOPS hand 0", 10000},
	{"round trip of a byte between two processes, by pipes", 6, "LOOPS trip 5000",
		"LOOPS trip 0", 5000},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static double each_us(const struct least with[2], int count)
{
	return ((double)with[1].ns - (double)with[0].ns) / 1e3 / count;
}

void filter_row(const struct bench *b)
{
	static const char what[] =
		"raw `getpid` without Sandglass, under one filter that allows everything";
	struct least plain[2] = {0}, filtered[2] = {0};
	char measured[96];
	double us[2];

	for (int i = 0; i < b->rounds; i++) {
		least_add(&plain[0], time_command(b, "LOOPS getpid 0", false));
		least_add(&plain[1], time_command(b, "LOOPS getpid 1000000", false));
		least_add(&filtered[0], time_command(b, "LOOPS filtered 0", false));
		least_add(&filtered[1], time_command(b, "LOOPS filtered 1000000", false));
	}
	if (plain[0].failed || plain[1].failed || filtered[0].failed || filtered[1].failed) {
		print_failed(what, "none");
		return;
	}
	us[0] = each_us(plain, CALLS);
	us[1] = each_us(filtered, CALLS);
	snprintf(measured, sizeof(measured), "%.2fx (%.0f ns, without a filter %.0f ns)",
		us[0] > 0 ? us[1] / us[0] : 0.0, us[1] * 1e3, us[0] * 1e3);
	print_comparison(what, measured);
}

static bool tell_row(const struct row *row, const struct least times[2], double stop_us)
{
	char target[32], measured[96];
	double us;
	bool met;

	snprintf(target, sizeof(target), "at most %g stops", row->target);
	if (times[0].failed || times[1].failed)
		return print_failed(row->what, target);
	us = each_us(times, row->count);
	met = stop_us > 0 && us <= row->target * stop_us;
	snprintf(measured, sizeof(measured), "%.2f stops (%.1f us, a stop %.1f us)",
		stop_us > 0 ? us / stop_us : 0.0, us, stop_us);
	print_row(row->what, target, measured, met);
	return met;
}

bool stop_rows(const struct bench *b)
{
	struct least stop[2] = {0}, times[ROWS][2] = {0};
	bool met = true;

	for (int i = 0; i < b->rounds; i++) {
		least_add(&stop[0], time_command(b, "LOOPS stop 0", true));
		least_add(&stop[1], time_command(b, "LOOPS stop 20000", true));
		for (int k = 0; k < ROWS; k++) {
			least_add(&times[k][0], time_command(b, rows[k].baseline, true));
			least_add(&times[k][1], time_command(b, rows[k].work, true));
		}
	}
	if (stop[0].failed || stop[1].failed)
		return print_failed("a stop", "none");
	for (int k = 0; k < ROWS; k++)
		met = tell_row(&rows[k], times[k], each_us(stop, STOPS)) && met;
	return met;
}
