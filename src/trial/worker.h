/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pack's program in a container of its own, served by a process of ours that nobody waits for
 * longer than the time allows.
 */
#ifndef TRIAL_WORKER_H
#define TRIAL_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "pack/pack.h"
#include "sandbox/sandbox.h"
#include "trial/trial.h"

enum {
	WORKER_LINE_MAX = 1 << 20, /* bytes of a line that it speaks */
	WORKER_TAIL = 1500,	   /* of what it printed, the last bytes */
	WORKER_DEGRADED_MAX = 4
};

/* How it ended, as the serving process tells it. */
struct worker_end {
	bool is_known;	     /* false: the serving process itself was lost */
	struct error failed; /* code 0: the container ran */
	struct sandbox_result result;
	bool is_over_output;
	uint32_t tail_len, degraded_count;
	char tail[WORKER_TAIL];
	char degraded[WORKER_DEGRADED_MAX][200];
};

struct worker {
	pid_t pid;  /* 0: none */
	int socket; /* lines to and from the program */
	int stop;   /* closed: the container is ended */
	int end_fd; /* where struct worker_end comes from */
	struct bytes in;
	size_t taken;
	bool is_mute;	       /* nothing more will come */
	struct worker_end end; /* valid once pid is 0 again */
};

struct worker_spec {
	const char *tree; /* shown read-only at /pack; NULL: nothing is */
	const struct pack_code *code;
	const char *host; /* the program that loads shared objects, or NULL */
	const struct trial_limits *limits;
	char *const *env;
	bool deterministic;
};

MUST_CHECK int worker_start(struct worker *w, const struct worker_spec *spec, struct error *err);
/*
 * The next line, without its newline and valid until the next call: 1; 0: none will come; -1: one
 * over WORKER_LINE_MAX, or ERR_TIMEOUT at the deadline (0: none).
 */
MUST_CHECK int worker_hear(struct worker *w, uint64_t deadline_ns, const char **ret,
	size_t *ret_len, struct error *err);
/* A line and its newline. What nobody hears is lost; -1: ERR_TIMEOUT. */
MUST_CHECK int worker_tell(
	struct worker *w, uint64_t deadline_ns, const void *line, size_t len, struct error *err);
/* Waits until the program has ended by itself: 1, or 0 at the deadline. */
int worker_wait(struct worker *w, uint64_t deadline_ns);
/* Ends what still runs and waits until all of it is gone. Again is nothing. */
void worker_finish(struct worker *w);

#endif
