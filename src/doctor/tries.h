/* SPDX-License-Identifier: Apache-2.0 */
/* The tries that checks.def names. Each runs in a child of its own, which it may spoil. */
#ifndef DOCTOR_TRIES_H
#define DOCTOR_TRIES_H

#include "base/attr.h"
#include "base/error.h"
#include "doctor/doctor.h"

/* Fills f; a try that ends without has failed. */
void try_kernel(struct doctor_finding *f);
void try_namespaces(struct doctor_finding *f);
void try_rootless(struct doctor_finding *f);
void try_limits(struct doctor_finding *f);
void try_proc(struct doctor_finding *f);
void try_cgroup(struct doctor_finding *f);
void try_overlay(struct doctor_finding *f);
void try_idmap(struct doctor_finding *f);
void try_landlock(struct doctor_finding *f);
void try_supervisor(struct doctor_finding *f);
void try_run(struct doctor_finding *f);

/*
 * The supervisor's own tries, in namespaces as a run has them where these can be made: the findings
 * that checks.def calls `probe`. Those that it says nothing of stay as they are.
 */
void probe_ask(struct doctor_finding *findings);

/* f: this level and these words. */
void finding_set(struct doctor_finding *f, enum doctor_level level, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void finding_remedy(struct doctor_finding *f, const char *text);

/* Runs one in a child for at most some seconds; a child that dies of it makes the finding. */
void child_try(void (*what)(struct doctor_finding *), struct doctor_finding *f);
/*
 * In a child: as child_try, but as init of new namespaces with the guest's ids, as a run's. -1:
 * they could not be made, f untouched.
 */
MUST_CHECK int child_try_inside(
	void (*what)(struct doctor_finding *), struct doctor_finding *f, struct error *err);
/* Reads from fd until its end, for at most some seconds; size includes the NUL. */
void child_read(int fd, char *ret_text, size_t size);

#endif
