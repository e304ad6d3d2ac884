/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite that holds every backend to the promises of docs/format/session. It works through the
 * session verbs alone, as any user does, in sessions of its own.
 */
#ifndef CONFORMANCE_CONFORMANCE_H
#define CONFORMANCE_CONFORMANCE_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "session/session.h"

enum conformance_verdict { CONFORMANCE_PASSED, CONFORMANCE_FAILED, CONFORMANCE_SKIPPED };

/* Called after each test; why is empty for a passed one. */
typedef void conformance_told(
	void *arg, const char *name, enum conformance_verdict verdict, const char *why);

struct conformance_counts {
	size_t passed, failed, skipped;
};

/*
 * Runs the tests whose name holds `only` (NULL: all). forks, unless it is NULL: each test has a
 * session that is a fork, made as this value of the backend's option `fork` says. -1 when the suite
 * itself could not run; a failed test is no error. Tests of a capability that the backend lacks are
 * skipped, saying so.
 */
MUST_CHECK int conformance_run(struct session_store *s, const char *backend, const char *only,
	const char *forks, conformance_told *told, void *arg, struct conformance_counts *ret,
	struct error *err);

#endif
