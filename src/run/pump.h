/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream between the guest and the caller: a bounded buffer, a running digest, and on request a
 * copy in a temporary file. A reader that is slow slows the guest; a reader that is gone is told.
 */
#ifndef RUN_PUMP_H
#define RUN_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "crypto/digest.h"
#include "run/journal.h"

/* Changes what was read in place; returns how much of it is left. */
typedef size_t pump_filter(unsigned char *data, size_t len);

struct pump {
	int from;	/* owned; -1 when at its end */
	int to;		/* borrowed; -1: nobody reads, what comes is digested and dropped */
	int spool;	/* borrowed; -1: no copy */
	bool owns_to;	/* `to` is ours: closed once all was passed on */
	bool is_broken; /* the reader went away (EPIPE) */
	bool is_pipe;	/* `to` may block: write no more than a pipe takes whole */
	uint64_t total; /* bytes read so far */
	uint64_t spooled;
	struct digest *digest;
	pump_filter *filter; /* sees what was read first, or NULL */
	/* Borrowed: told before anything is passed on, which is this stream; NULL: nobody is. */
	struct journal *journal;
	unsigned stream;
	size_t planned; /* bytes that it was told of and that were not written yet */
	unsigned char *data;
	size_t start, len; /* what waits to be written */
};

/* Bytes of one stream that are kept for comparing; past them only the digest tells. */
#define PUMP_SPOOL_MAX (256ull * 1024 * 1024)

/* An idle one, which is done already. */
void pump_init(struct pump *p);
/* Sets an idle one to work. Takes from. */
void pump_start(struct pump *p, int from, int to);
void pump_finish(struct pump *p);
#define auto_pump CLEANUP(pump_finish)

/* True when nothing more will come and all of it was passed on or dropped. */
bool pump_is_done(const struct pump *p);
/* Adds what it waits for to fds; returns how many entries (0 to 2). */
size_t pump_poll(const struct pump *p, struct pollfd *fds);
/* Moves what can be moved without blocking. `count` entries as pump_poll filled them. */
MUST_CHECK int pump_step(struct pump *p, const struct pollfd *fds, size_t count, struct error *err);
/* Nobody will read any more: what is buffered and what still comes is dropped. */
void pump_drop(struct pump *p);

#endif
