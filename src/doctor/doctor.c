/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks, and the order in which they are tried: see doctor.h. */
#include "doctor/doctor.h"

#include "doctor/tries.h"
#include "launch/idmap.h"

typedef void try_function(struct doctor_finding *f);

struct check {
	const char *name, *what, *means, *remedy;
	try_function *try; /* NULL: the supervisor tells */
};

#define try_probe NULL
static const struct check checks[] = {
#define X(name, what, who, means, remedy) {#name, what, means, remedy, try_##who},
#include "doctor/checks.def"
#undef X
};
_Static_assert(sizeof(checks) / sizeof(checks[0]) == DOCTOR_CHECKS, "one row a check");

static const char *const level_names[DOCTOR_LEVELS] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_UNTRIED] = "untried",
	[DOCTOR_DEGRADED] = "degraded",
	[DOCTOR_MISSING] = "missing",
};

void doctor_try(struct doctor_report *ret)
{
	*ret = (struct doctor_report){.as_root = idmap_choose().privileged};
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		struct doctor_finding *f = &ret->findings[i];

		if (checks[i].try)
			child_try(checks[i].try, f);
		else
			finding_set(f, DOCTOR_UNTRIED, "the supervisor did not answer");
	}
	if (ret->findings[DOCTOR_supervisor].level == DOCTOR_OK)
		probe_ask(ret->findings);
}

enum doctor_level doctor_verdict(const struct doctor_report *r)
{
	enum doctor_level worst = DOCTOR_OK;

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		if (r->findings[i].level > worst)
			worst = r->findings[i].level;
	return worst == DOCTOR_UNTRIED ? DOCTOR_OK : worst;
}

const char *doctor_name(enum doctor_check c)
{
	return checks[c].name;
}

const char *doctor_what(enum doctor_check c)
{
	return checks[c].what;
}

const char *doctor_means(enum doctor_check c)
{
	return checks[c].means;
}

const char *doctor_remedy(const struct doctor_report *r, enum doctor_check c)
{
	return r->findings[c].remedy[0] ? r->findings[c].remedy : checks[c].remedy;
}

const char *doctor_level_name(enum doctor_level l)
{
	return level_names[l];
}
