/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop that serves one program: its input, its two outputs with their caps, the time-out, and
 * whatever tells its end. Nothing in it blocks on the program.
 */
#ifndef SANDBOX_STREAMS_H
#define SANDBOX_STREAMS_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

struct streams {
	const struct sandbox_exec *exec;
	struct sandbox_result *result;
	uint64_t timeout_ns; /* host time */
	int in, out, err;    /* our ends; owned, -1 when closed */
	int guest[3];	     /* the program's ends; owned until streams_started */
	int event; /* becomes readable when something is to be told by on_event; borrowed */
	/* *ret_over: nothing more will come. */
	int (*on_event)(void *arg, bool *ret_over, struct error *err);
	void (*kill)(void *arg); /* the whole tree, more than once */
	void *arg;
};

/* Makes the pipes. */
MUST_CHECK int streams_open(struct streams *s, const struct sandbox_exec *x,
	struct sandbox_result *result, struct error *err);
/* The program has its ends: ours of them are closed. */
void streams_started(struct streams *s);
/* Until everything is over. An error of the sink or of the host kills the tree first. */
MUST_CHECK int streams_serve(struct streams *s, struct error *err);
void streams_close(struct streams *s);
#define auto_streams CLEANUP(streams_close)

#endif
