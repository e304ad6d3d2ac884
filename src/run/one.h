/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a contract: container, control frames, standard streams, signals and the time-out in
 * one poll loop.
 */
#ifndef RUN_ONE_H
#define RUN_ONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "crypto/digest.h"
#include "launch/launch.h"
#include "run/decisions.h"
#include "run/feed.h"
#include "run/journal.h"
#include "run/notes.h"
#include "run/options.h"
#include "run/programs.h"
#include "run/stdin.h"
#include "oci/oci.h"
#include "wire/contract.h"
#include "wire/counts.h"

/* How a run ended, in the order of precedence of its exit status. */
enum one_end {
	ONE_GUEST,    /* by itself: code, or signal */
	ONE_DEADLOCK, /* 123 */
	ONE_DIVERGED, /* 122: it is not the run that its tape is of */
	ONE_TIMEOUT,  /* 124 */
	ONE_CLOSED,   /* a reader of our output went away: 141 */
	ONE_STOPPED,  /* the caller interrupted it: 128 + signal */
	ONE_FAILED,   /* it could not start: the error says why */
	ONE_DIED,     /* the supervisor died: 125 */
};

struct one_spec {
	const struct contract *contract;
	int supervisor;			/* descriptor of the static supervisor */
	const struct oci_spec *runtime; /* who makes the container; NULL: we do */
	int cpu;			/* -1: the first allowed one */
	uint32_t delay_seed;		/* 0: none */
	struct stdin_source *in;
	/* Borrowed: a stream on standard input is recorded, or comes from a tape. NULL: it is
	 * passed on, and told as not enforced when it is used. */
	struct feed *feed;
	struct bytes *moments; /* borrowed: u64 decisions made, at each thing that came; or NULL */
	struct journal *journal;  /* borrowed; what goes out is told there; NULL: nowhere */
	uint64_t timeout_ns;	  /* host time; 0: none */
	uint64_t timers_after_ns; /* guest CPU time: conditions.timers_after_ns */
	int signals;		  /* signalfd of the signals that the caller blocked */
	bool is_image;		  /* the root is an image's: see launch_spec */
	bool wants_programs;	  /* a report names what was executed and mapped */
	bool is_quiet; /* a second run: output is not passed on, messages are not repeated */
	/* The user asked for a limit: one that holds only in part is said at once, not only
	 * reported. */
	bool wants_limits;
	int spool_out, spool_err; /* copies of the output, or -1 */
	struct decisions *decisions;
	run_say *say;
};

/* A task of a deadlock. */
struct waiter {
	uint32_t task, pid, tid;
	char *name, *call, *arguments, *what; /* call "": it stands in none */
};
struct waiters {
	struct waiter *items;
	size_t count;
};
void waiters_finish(struct waiters *w);

struct one_result {
	enum one_end end;
	int code, signal; /* signal 0: it exited with code */
	bool oom;
	bool was_killed; /* something inside died of a SIGKILL that came from outside, or of oom */
	char *deadlock;	 /* who waits for what, or NULL; owned */
	struct waiters waiters;		   /* the same task by task */
	bool was_interrupted;		   /* the caller signalled it */
	struct error failed;		   /* of ONE_FAILED and ONE_DIED */
	struct feed_divergence divergence; /* of ONE_DIVERGED */
	struct counts counts;
	struct notes notes;	  /* not enforced, assumptions */
	struct programs programs; /* executed, in order of first use */
	char out[DIGEST_TEXT], err[DIGEST_TEXT];
	uint64_t out_bytes, err_bytes, out_spooled, err_spooled;
	uint64_t real_from_ns, real_to_ns; /* the host's time around the run */
	struct launch *launch; /* for what the guest wrote; one_result_finish frees it */
};

void one_result_finish(struct one_result *r);
#define auto_one_result CLEANUP(one_result_finish)

/* -1 only when the host itself failed; whatever became of the guest is in *ret. */
MUST_CHECK int one_run(const struct one_spec *spec, struct one_result *ret, struct error *err);

#endif
