/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a replication: a line of JSON an event. docs/format/replication-log. */
#ifndef REPLICATE_JOBLOG_H
#define REPLICATE_JOBLOG_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"

#define JOBLOG_FORMAT "sandglass.replication-log/1"

struct joblog {
	int fd;		 /* -1: nowhere */
	const char *job; /* or NULL; borrowed */
	uint64_t count;
};

/* Appends to the file, NULL: nothing is kept. */
MUST_CHECK int joblog_open(struct joblog *l, const char *path, const char *job, struct error *err);
void joblog_close(struct joblog *l);
#define auto_joblog CLEANUP(joblog_close)
/* One event with its own members, an object (taken, may be NULL). */
MUST_CHECK int joblog_add(struct joblog *l, const char *event, json_t *members, struct error *err);

#endif
