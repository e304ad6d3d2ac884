/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs of one contract part, in a form that a person can act on. */
#ifndef RUN_DIFFERENCE_H
#define RUN_DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/decisions.h"

enum difference_output {
	DIFFERENCE_EXIT,
	DIFFERENCE_STDOUT,
	DIFFERENCE_STDERR,
	DIFFERENCE_TREE,
	DIFFERENCE_DECISIONS,
	DIFFERENCE_OUTPUTS
};

/* One output that differs; the texts are printable and cut. */
struct difference_row {
	bool differs;
	uint64_t line;	      /* from 1; 0: not known */
	char *first, *second; /* NULL: that run has no such line */
};

struct difference {
	struct difference_row rows[DIFFERENCE_OUTPUTS];
	bool has_decision;
	struct decisions_difference decision;
};

void difference_finish(struct difference *d);
#define auto_difference CLEANUP(difference_finish)
bool difference_any(const struct difference *d);
const char *difference_name(enum difference_output o);

/*
 * The first line in which two files differ, from their starts; 1 found, 0 when they are the same as
 * far as they go. Lines are cut to 200 bytes, shown from near the place where they differ.
 */
MUST_CHECK int difference_lines(
	int first, int second, struct difference_row *ret, struct error *err);

/* "clock_gettime(1, 0x7ff..., 0) = 0" and the like (caller frees). */
char *difference_decision_text(const struct decision *d);
/* The name of a system call, or NULL. */
const char *difference_call_name(unsigned nr);

#endif
