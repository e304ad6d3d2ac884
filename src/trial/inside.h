/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: one trial while it is made. */
#ifndef TRIAL_INSIDE_H
#define TRIAL_INSIDE_H

#include "codec/json.h"
#include "ledger/ledger.h"
#include "pack/pack.h"
#include "runtime/graph.h"
#include "trial/tree.h"
#include "trial/trial.h"
#include "trial/worker.h"

/* What a step comes to: 0 or one of these. */
enum {
	STEP_ERROR = -1, /* err: something is wrong here, not with a pack */
	STEP_FAILED = 1, /* the pack said that its call failed */
	STEP_OVER = 2,	 /* the trial has its outcome */
};

/* An event that waits to be appended. */
struct waiting {
	char *id, *type, *payload, *actor, *caused_by; /* caused_by may be NULL */
};

struct player {
	struct bundle bundle;
	json_t *manifest, *surface;
	struct pack_code code;
	char *tree, *name;
	struct worker worker;
	bool is_started;
};

enum trial_phase { PHASE_DESCRIBE, PHASE_PLAY, PHASE_END };

struct trial {
	const struct trial_spec *spec;
	struct trial_report *report;
	bool has_outcome;
	enum trial_phase phase;
	struct tree tree;
	struct player *players; /* as spec->packs */
	char *host;		/* the program that loads shared objects, or NULL */
	struct ledger *ledger;
	uint64_t shared;      /* seq of the fork's last event before the trial; 0: none */
	uint64_t next_number; /* of an event's id */
	struct waiting *events;
	size_t count, taken; /* taken: of them, by behaviors */
	size_t bytes;
	uint64_t *old; /* seqs of the fork's events that nobody has taken yet */
	size_t old_count, old_taken;
	uint64_t deadline_ns; /* 0: none */
	uint64_t nonces;
	char *said;	     /* why the last call failed */
	struct graph *graph; /* NULL until somebody asks; then with so many of events */
	size_t projected;
};

struct player *trial_candidate(struct trial *t);

/* Sets the outcome, once: STEP_OVER. */
int trial_over(struct trial *t, enum trial_outcome outcome, const char *fmt, ...) PRINTF_LIKE(3, 4);
void trial_warn(struct trial *t, const char *text);

/* materialize.c: private copies, pins, manifests. Nothing has been started yet. */
MUST_CHECK int trial_materialize(struct trial *t, struct error *err);
/* Starts the programs and compares what they say of themselves. */
MUST_CHECK int trial_describe(struct trial *t, struct error *err);

/* talk.c: one call of a pack, in which it may ask. */
struct call {
	struct player *player;
	const char *actor, *caused_by; /* of what it appends without saying */
	bool may_idle;
};
/* members: the call without its nonce, {"do":"x" and what follows it ("" or ,"y":1). *ret (may be
 * NULL; the caller owns it) is its answer. */
MUST_CHECK int trial_call(struct trial *t, const struct call *c, const char *what,
	const char *members, json_t **ret, struct error *err);
/* Why a program is gone without having been told to. */
MUST_CHECK int trial_judge_end(struct trial *t, struct player *p, struct error *err);
/* The candidate's status into the report, once its program is gone. */
void trial_keep_exit(struct trial *t, const struct player *p);
/* The time is over. */
int trial_out_of_time(struct trial *t);

/* events.c: what is appended and what behaviors make of it. */
MUST_CHECK int trial_load(struct trial *t, struct error *err);
/* Whether a ledger takes it: else all that a trial did would be lost at its end. */
MUST_CHECK int trial_check_payload(const char *payload, struct error *err);
/* Appends; takes payload (text, heap). *ret_id (may be NULL) is borrowed. */
MUST_CHECK int trial_append(struct trial *t, const char *type, char *payload, const char *actor,
	const char *caused_by, const char **ret_id);
MUST_CHECK int trial_idle(struct trial *t, struct error *err);
/* The answer to an "events" request; the caller owns *ret. */
MUST_CHECK int trial_events_reply(
	struct trial *t, const json_t *request, char **ret, struct error *err);
/* objects.c: the answer to an "objects" request; STEP_FAILED: err says why there is none. */
MUST_CHECK int trial_objects_reply(
	struct trial *t, const json_t *request, char **ret, struct error *err);
/* Once every program is gone: all in one transaction, and the report's numbers. */
MUST_CHECK int trial_commit(struct trial *t, struct error *err);

/* A member that is a string without NUL, or NULL. */
const char *trial_text(const json_t *object, const char *key);

#endif
