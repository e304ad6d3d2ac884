/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's input from outside, let in when the supervisor asks: from the source, and then
 * recorded, or from a tape, without the source. That is standard input, which is put into the
 * guest's pipe, and what comes over its connections (run/outside.h).
 *
 * How it works: a question names an instant of the guest's clock up to which nothing else happens
 * ("due"). From the source, the host waits that long in its own time. What comes in between belongs
 * to the instant at which the guest's clock would be by then; when the time is over first, a timer
 * of the guest is what happens next. From a tape, the record that carries the question's number
 * says what came and when; no such record: nothing did.
 */
#ifndef RUN_FEED_H
#define RUN_FEED_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "run/outside.h"
#include "tape/net.h"
#include "tape/tape.h"

/* Waiting of the host that is shorter than this passes no time inside, so that a pipe's own pace
 * does not show: it is added to the next. */
#define FEED_AT_ONCE_NS 100000000ull

struct feed_ask {
	uint64_t request, now_ns, due_ns; /* due UINT64_MAX: never */
	uint32_t task;
};

/* The payload of an INPUT or, when `stream` is not 0, of a NET_INPUT frame. */
struct feed_answer {
	uint64_t request, now_ns;
	uint32_t flags, len;
	uint32_t stream, error;
	const unsigned char *data; /* of NET_INPUT: borrowed until the next step */
	bool datagrams;		   /* and where it leads: not of the frame */
	struct endpoint to;
	uint32_t signal; /* not of the frame: what came, when the flags say so; 0: it is not
			    recorded */
};

struct feed_sent {
	uint32_t stream, flags;
	uint64_t now_ns;
	const unsigned char *data;
	size_t len;
};

/* Where a replay and its tape part. */
struct feed_divergence {
	bool diverged;
	char name[24]; /* MissingRecord, SurplusRecord, DifferentRecord, UnknownRecord */
	uint64_t ordinal;
	char recorded[200], made[200];
};

/* Takes what came: 0, or -1 with err. It is told once when it fails. */
typedef int feed_record(void *arg, const struct feed_ask *ask, const struct feed_answer *answer,
	const void *data, struct error *err);

/* The same of what the guest sent. */
typedef int feed_record_sent(
	void *arg, const struct tape_sent *sent, uint64_t now_ns, struct error *err);

struct feed {
	/* Set by the owner. One of record and reader is there, or none. */
	feed_record *record;
	feed_record_sent *record_sent;
	void *arg;
	struct tape_reader *reader; /* borrowed; NULL again once a resumed run goes on live */
	/* A resumed run: what the tape does not have comes from the source, but for the questions
	 * up to `known`, which were answered: without a record, that nothing came. */
	bool resumes;
	uint64_t known;
	uint64_t skip; /* bytes of the source that the journal has already */

	struct outside outside; /* its connections; network NULL: there are none */
	int from, to;		/* owned; -1 when at its end */
	unsigned char *data;	/* read from the source and not passed on yet */
	size_t len;
	bool has_ended; /* the source's end was read */
	bool has_ask;
	uint32_t signal; /* goes to the guest while it asks; 0: none */
	struct feed_ask ask;
	uint64_t asked_ns, debt_ns; /* the host's time of the question; waiting not passed on */
	uint64_t last_request, total;
	struct tape_record next; /* of the tape, read ahead */
	bool has_next, is_over;
	struct error failed; /* of record: the first */
	struct feed_divergence divergence;
};

void feed_init(struct feed *f);
void feed_finish(struct feed *f);
#define auto_feed CLEANUP(feed_finish)

/* Another run: its source (-1 with a tape) and the guest's pipe, or -1 and -1 where standard input
 * is no stream. Takes both. */
MUST_CHECK int feed_start(struct feed *f, int from, int to, struct error *err);
/* A question came. */
MUST_CHECK int feed_put_ask(struct feed *f, const struct feed_ask *ask, struct error *err);
/* A signal goes to the guest: the question is answered with that. */
void feed_signal(struct feed *f, uint32_t sig);
/* The guest asks for a connection. */
MUST_CHECK int feed_connect(struct feed *f, uint32_t stream, bool datagrams,
	const struct endpoint *to, struct error *err);
/* The guest sent: the fields of NET_SENT. */
MUST_CHECK int feed_sent(struct feed *f, const struct feed_sent *sent, struct error *err);
/* What it waits for; FEED_POLL entries at most. */
enum { FEED_POLL = 1 + OUTSIDE_MAX };
size_t feed_poll(const struct feed *f, struct pollfd *fds);
/* The host's time by which it is to be called again; 0: none. */
uint64_t feed_deadline_ns(const struct feed *f);
/* 1 and an answer for the supervisor; 0: not yet, or nothing was asked; -1. A divergence is no
 * error here: it is in f->divergence, and there is no answer. */
MUST_CHECK int feed_step(struct feed *f, struct feed_answer *ret, struct error *err);
/* The run has ended by itself: has the tape more? Fills the divergence. */
MUST_CHECK int feed_end(struct feed *f, struct error *err);

#endif
