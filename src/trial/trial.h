/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials: the code of packs, pinned by hash, tried on a fork of a saved run. docs/format/trial.md.
 *
 * How it works. The fork is made here. Each pack is copied into a private tree while it is hashed,
 * and its program started in a native container of its own that shows nothing but that tree: no
 * network, no ledger, no other pack. What it wants of the fork it asks for over one private
 * descriptor; what it appends is kept here until every container is gone, and then appended in one
 * transaction. The numbers of the report are read from the ledger after that.
 */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "codec/json.h"
#include "ledger/ledger.h"

enum trial_outcome {
	TRIAL_COMPLETED,
	TRIAL_SCENARIO_FAILED,
	TRIAL_LIMITS_EXCEEDED,
	TRIAL_MATERIALIZATION_FAILED,
	TRIAL_CRASHED,
	TRIAL_OUTCOMES
};
const char *trial_outcome_name(enum trial_outcome o);

/* 0 takes a net away; trial_limits_init sets the defaults. */
struct trial_limits {
	uint64_t wall_ns;     /* of all packs together */
	uint64_t memory;      /* bytes, of each pack's container; so are those below */
	uint64_t cpu_seconds; /* of each process */
	uint64_t pids, max_files, max_file_size;
	uint64_t max_disk;	/* bytes of /tmp, the only place to write to */
	uint64_t max_output;	/* bytes that it may print */
	uint64_t max_events;	/* appended to the fork */
	uint64_t max_llm_calls; /* recorded: no provider is ever configured */
};
void trial_limits_init(struct trial_limits *l);
/* As the report has them; the caller owns it. */
json_t *trial_limits_json(const struct trial_limits *l);

struct trial_pack {
	const char *dir, *pin; /* the bundle hash that is expected */
};

/* All borrowed. */
struct trial_spec {
	const char *store, *run, *at;	/* at NULL: after the run's last event */
	const char *label;		/* NULL: "trial" */
	const struct trial_pack *packs; /* the candidate is the last; before it, in order */
	size_t pack_count;
	const char *scenario; /* FILE or FILE::FUNCTION of the candidate; NULL: only what waits */
	bool no_manifest;
	bool deterministic;
	struct trial_limits limits;
	char *const *env; /* NAME=VALUE that are passed on, NULL-terminated; or NULL */
	const char *work; /* a directory for private trees; it is made */
};

/* Owned: trial_report_finish. */
struct trial_report {
	enum trial_outcome outcome;
	char fork_run_id[LEDGER_ULID];
	uint64_t events_appended, behavior_failures;
	char *detail;
	bool has_exit_code; /* of the candidate's program: its status, or minus a signal */
	int exit_code;
	char **warnings;
	size_t warning_count;
	struct trial_limits limits;
};
void trial_report_finish(struct trial_report *r);
#define auto_trial_report CLEANUP(trial_report_finish)
/* The report as JSON; the caller owns it. */
json_t *trial_report_json(const struct trial_report *r);

/*
 * Makes the trial. Whatever a pack does is an outcome. -1 is for what is wrong here: no such store,
 * run or event, a cut that is refused, a host that can start no container, a ledger that cannot be
 * written to.
 */
MUST_CHECK int trial_run(
	const struct trial_spec *spec, struct trial_report *ret, struct error *err);

/*
 * Starts a pack's program and compares what it says that it has with its manifest, without any
 * fork: outcome completed when the two agree, else as a trial that gets no further.
 */
MUST_CHECK int trial_check(const struct trial_pack *pack, const struct trial_limits *limits,
	const char *work, struct trial_report *ret, struct error *err);

/*
 * Starts an empty child by the same path under these limits. 0 and what is weaker than asked (the
 * caller frees each and the list); -1: no child can start, and why.
 */
MUST_CHECK int trial_preflight(const struct trial_limits *limits, bool deterministic,
	char ***ret_warnings, size_t *ret_count, struct error *err);

#endif
