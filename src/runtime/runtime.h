/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviours on a run's events. A run is loaded by replaying its log, which fires nothing; what was
 * still to be done then (docs/format/ledger.md, "Requeue") waits in a queue, with all that is
 * appended from now on. runtime_drain takes one event after the other, lets every behaviour that
 * subscribes to its type run, in the order of their subscription, and ends with runtime.idle when
 * nothing is left. What a behaviour appends names it as the actor and its event as the cause.
 *
 * The log is written as each event of the queue has been dealt with, all of it or none; so after a
 * crash an event is either done or still to be done.
 */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "ledger/ledger.h"
#include "runtime/graph.h"

/* Where events come from and go to. */
struct runtime_log {
	void *context;
	/*
	 * A state that stands for the log's first events (caller frees), *ret_seq of them: 1, 0,
	 * -1. May be NULL. It comes first; the events of `next` follow it.
	 */
	int (*state)(void *context, char **ret_text, uint64_t *ret_seq, struct error *err);
	/* The log's events in order: 1, 0, -1. */
	int (*next)(void *context, struct ledger_event *ret, struct error *err);
	int (*append)(void *context, const struct ledger_new *events, size_t count, bool is_block,
		struct error *err);
	/* The next event that is appended is evt_%03d of one more than this. */
	uint64_t (*number)(void *context);
	void (*finish)(void *context); /* may be NULL */
};
/* A run of a ledger (borrowed). */
MUST_CHECK int runtime_log_of_run(
	struct ledger *l, const char *run, struct runtime_log *ret, struct error *err);

struct runtime;

/* Takes the log. budget: events that may be appended; 0: any number. */
struct runtime *runtime_new(const struct runtime_log *log, uint64_t budget);
void runtime_free(struct runtime *r);
void runtime_cleanup(struct runtime **r);
#define auto_runtime CLEANUP(runtime_cleanup)

/* -1 with err filled is a failure of the behaviour: behavior.failed, and the next one goes on. */
typedef int runtime_behavior(
	void *context, struct runtime *r, const struct ledger_event *e, struct error *err);
/*
 * A type ending in ".*" is all that begin so; "*" is every one. Events of the runtime's own
 * (behavior., relation_behavior., runtime.) are given to nobody. Names and types are copied.
 */
void runtime_subscribe(struct runtime *r, const char *name, const char *type,
	runtime_behavior *fire, void *context);

/* Replays the log: once, before all that follows. */
MUST_CHECK int runtime_load(struct runtime *r, struct error *err);
/* Until the queue is empty. ERR_LIMIT: the budget is used up; runtime.budget_exhausted is appended.
 */
MUST_CHECK int runtime_drain(struct runtime *r, struct error *err);

/* Appending. Ids are copied into ret_id (may be NULL). ERR_LIMIT: the budget is used up. */
enum { RUNTIME_ID = LEDGER_ID_MAX + 1 };
MUST_CHECK int runtime_emit(struct runtime *r, const char *type, const char *payload,
	char ret_id[RUNTIME_ID], struct error *err);
/* As somebody: actor and caused_by may be NULL. */
MUST_CHECK int runtime_emit_as(
	struct runtime *r, const struct ledger_new *e, char ret_id[RUNTIME_ID], struct error *err);
/* data and value are JSON objects. An object's id is TYPE#N. */
MUST_CHECK int runtime_add_object(struct runtime *r, const char *type, const char *data,
	char ret_id[RUNTIME_ID], struct error *err);
MUST_CHECK int runtime_remove_object(struct runtime *r, const char *id, struct error *err);
MUST_CHECK int runtime_relate(struct runtime *r, const char *type, const char *source,
	const char *target, char ret_id[RUNTIME_ID], struct error *err);
/* op: update puts the members of value over those there are, replace puts value in their place. */
MUST_CHECK int runtime_patch(struct runtime *r, const char *target, const char *op,
	const char *value, struct error *err);
/* What runtime_emit has gathered goes to the log; runtime_drain does it by itself. */
MUST_CHECK int runtime_flush(struct runtime *r, struct error *err);

/*
 * Keeps the state at a run's end, so that loading begins there: *ret_seq is the seq of its last
 * event, 0 when it has none. The events stay.
 */
MUST_CHECK int runtime_compact(
	struct ledger *l, const char *run, uint64_t *ret_seq, struct error *err);
/* Objects, counters and queue as text, from which another runtime goes on. */
void runtime_write_state(const struct runtime *r, struct bytes *out);

const struct graph *runtime_graph(const struct runtime *r);
uint64_t runtime_appended(const struct runtime *r);
uint64_t runtime_failures(const struct runtime *r); /* behaviours that failed since the load */
size_t runtime_queued(const struct runtime *r);

#endif
