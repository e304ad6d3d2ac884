/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in a run, in its order, as far as a picture shows it. */
#ifndef RUN_EVENTS_H
#define RUN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/picture.h"

enum event_kind {
	EVENT_RUN,    /* a task runs: until another does, or the clock moves */
	EVENT_TIMER,  /* the clock moves to where a timer comes due */
	EVENT_INPUT,  /* something comes from outside */
	EVENT_EFFECT, /* something goes out */
	EVENT_SIGNAL,
	EVENT_CREATE,
	EVENT_EXIT,
};

struct event {
	enum event_kind kind;
	uint32_t task;	/* 0: nobody in particular */
	uint32_t calls; /* of EVENT_RUN */
	uint64_t now_ns, moved_ns;
	char *text; /* owned; not escaped for anything */
};

struct events {
	struct event *items;
	size_t count;
	bool is_cut; /* there were more */
};

void events_finish(struct events *e);
MUST_CHECK int events_collect(struct events *e, const struct picture *p, struct error *err);

#endif
