/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime is made of. For runtime.c and state.c alone. */
#ifndef RUNTIME_INSIDE_H
#define RUNTIME_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"

struct subscription {
	char *name, *type;
	runtime_behavior *fire;
	void *context;
};

/* An event with texts of its own. */
struct item {
	struct ledger_event e;
	char *texts; /* all of them, in one piece */
};

struct items {
	struct item *list;
	size_t first, count, room; /* those before first are done with */
};

struct runtime {
	struct runtime_log log;
	struct graph *graph;
	struct subscription *subscriptions;
	size_t subscription_count;
	struct items queue, pending;
	uint64_t budget, appended, failures, number, seq, time_ns;
	const char *actor, *cause; /* of what a behaviour appends */
	char *done;		   /* the event that was dealt with last, while loading */
	bool is_spent;
};

/* Puts a copy of the event at the queue's end. */
void runtime_queue(struct runtime *r, const struct ledger_event *e);
/* Begins with the state that the log keeps, if it keeps one. 0 or -1. */
MUST_CHECK int runtime_load_state(struct runtime *r, struct error *err);

#endif
