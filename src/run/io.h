/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's standard streams: pipes or a terminal on its side, pumps on ours. */
#ifndef RUN_IO_H
#define RUN_IO_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/feed.h"
#include "run/pump.h"
#include "run/stdin.h"
#include "wire/contract.h"

struct io {
	int guest[3];		  /* what becomes 0, 1, 2 inside; closed by io_started */
	struct pump in, out, err; /* `in` idle for a file, `err` idle with a terminal */
	int input;		  /* what a terminal's keys come from, until io_attach; or -1 */
	bool raw;		  /* the caller's terminal is in raw mode for us */
};

/* quiet: the output goes nowhere but to digests and spools. feed: passes a stream on standard input
 * on request; NULL: it is passed as it comes. */
MUST_CHECK int io_open(struct io *io, const struct contract *c, const struct stdin_source *in,
	bool quiet, struct feed *feed, struct error *err);
/* With a terminal: the guest's, which launch_terminal gave, is joined to ours. Takes it. */
MUST_CHECK int io_attach(
	struct io *io, int terminal, const struct stdin_source *in, bool quiet, struct error *err);
/* The guest has its ends: ours of them are closed, so that an end of file can come. */
void io_started(struct io *io);
/* Restores the terminal. */
void io_close(struct io *io);
#define auto_io CLEANUP(io_close)

#endif
