/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process that outlives a caller killed by kill -9 and removes what the kernel does not end
 * by itself.
 */
#ifndef BASE_JANITOR_H
#define BASE_JANITOR_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

struct janitor {
	pid_t pid;     /* 0: none */
	int dismissal; /* its end of file without a byte means that we died */
};

#define JANITOR_NONE ((struct janitor){.dismissal = -1})

/* In the janitor, when the caller has died: it has copies of the caller's memory, no descriptor but
 * 0, which is none of the caller's, and / as its directory. */
typedef void janitor_work(const void *arg);

MUST_CHECK int janitor_start(
	struct janitor *ret, janitor_work *work, const void *arg, struct error *err);
/* The caller removed it himself: ends the janitor and reaps it. */
void janitor_finish(struct janitor *j);

#endif
