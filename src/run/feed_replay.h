/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a feed answers from a tape, and compares what is sent with it; where a journal ends, it goes
 * on live. feed.c alone calls this.
 */
#ifndef RUN_FEED_REPLAY_H
#define RUN_FEED_REPLAY_H

#include "run/feed.h"
#include "tape/input.h"

/* As feed_step, of a feed with a reader. */
MUST_CHECK int feed_replay(struct feed *f, struct feed_answer *ret, struct error *err);
/* Is it what the recorded run sent, there and then? What differs is told by f->divergence. */
MUST_CHECK int feed_replay_sent(struct feed *f, const struct feed_sent *sent,
	const struct tape_sent *made, struct error *err);
/* The run has ended: is anything left on the tape? */
MUST_CHECK int feed_replay_end(struct feed *f, struct error *err);

/* What both ways have in common. The guest's clock may go forward so far before its next timer. */
uint64_t feed_room_ns(const struct feed *f);
/* The question has this answer. Always 1. */
int feed_answered(struct feed *f, struct feed_answer *ret, uint64_t now_ns, uint32_t flags);
/* Into the guest's pipe: *ret says how much of it; 0 when it is full. */
MUST_CHECK int feed_pass(
	struct feed *f, const unsigned char *data, size_t len, size_t *ret, struct error *err);
/* As feed_step, from the source and the network. */
MUST_CHECK int feed_live(struct feed *f, struct feed_answer *ret, struct error *err);

#endif
