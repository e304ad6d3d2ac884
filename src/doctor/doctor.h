/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this host can run programs deterministically: every mechanism that a run stands on is
 * tried, not looked up by version. What checks.def lists, in its order.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_UNTRIED,	 /* it could not be tried, or says nothing for this user: no judgement */
	DOCTOR_DEGRADED, /* runs are possible, and weaker than they could be */
	DOCTOR_MISSING,	 /* runs are not possible */
	DOCTOR_LEVELS
};

enum doctor_check {
#define X(name, what, who, means, remedy) DOCTOR_##name,
#include "doctor/checks.def"
#undef X
	DOCTOR_CHECKS
};

/* Plain data: the child that tries it writes it up a pipe. */
struct doctor_finding {
	enum doctor_level level;
	char detail[480]; /* what was found, on one line */
	char remedy[240]; /* instead of the table's; empty: the table's */
};

struct doctor_report {
	struct doctor_finding findings[DOCTOR_CHECKS];
	bool as_root; /* tried with the privileges that root's runs use */
};

/* Tries everything; nothing of it is left on the host. Takes a fraction of a second. */
void doctor_try(struct doctor_report *ret);
/* The worst level: DOCTOR_OK, DOCTOR_DEGRADED or DOCTOR_MISSING. */
enum doctor_level doctor_verdict(const struct doctor_report *r);

/* Columns of the table. A remedy and a meaning are for findings that are not as they should be. */
const char *doctor_name(enum doctor_check c);
const char *doctor_what(enum doctor_check c);
const char *doctor_means(enum doctor_check c);
const char *doctor_remedy(const struct doctor_report *r, enum doctor_check c);
const char *doctor_level_name(enum doctor_level l);

#endif
