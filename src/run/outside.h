/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The true ends of a guest's connections to the outside, or, for a replay, only which there are.
 *
 * How it works: a connect that the rules allow is begun at once, and what the guest sends goes out
 * as the network takes it. What comes in stays with the kernel until the guest waits for it and a
 * question stands (run/feed.h); so whoever sends is slowed down as by any reader.
 */
#ifndef RUN_OUTSIDE_H
#define RUN_OUTSIDE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "run/options.h"
#include "wire/endpoint.h"

enum { OUTSIDE_ROOM = 256 * 1024, OUTSIDE_MAX = 1024 };

struct outside_stream;

struct outside {
	/* Set by the owner. */
	const char *network; /* the contract's; NULL: no connections at all */
	bool is_live;	     /* connections are made; else they are only remembered */
	run_say *say;	     /* NULL: quiet */

	struct outside_stream *streams;
	size_t count, refused;
	uint32_t last; /* whose turn it was */
	unsigned char *room;
};

void outside_finish(struct outside *o);

/* The guest asks for a connection. -1: a stream of this number is there. */
MUST_CHECK int outside_connect(
	struct outside *o, uint32_t stream, bool datagrams, const struct endpoint *to);
/* The guest sent this; the flags of NET_SENT. A stream that is over takes nothing. */
void outside_sent(struct outside *o, uint32_t stream, uint32_t flags, const void *data, size_t len);
/* The guest waits for what comes. */
void outside_wanted(struct outside *o, uint32_t stream);

/* What happened to a stream: the fields of NET_INPUT. */
struct outside_event {
	uint32_t stream, flags, error;
	bool datagrams;
	struct endpoint to;
	const unsigned char *data; /* borrowed until the next call */
	size_t len;
};
/* True and the next event, while a question stands. */
bool outside_next(struct outside *o, struct outside_event *ret);
/* More can come, or a connect has no answer yet. */
bool outside_can_come(const struct outside *o);
/* The stream as its connect named it. */
bool outside_find(const struct outside *o, uint32_t stream, struct outside_event *ret);
/* A tape says that this happened to the stream: the flags of NET_INPUT, and a connect's errno. */
void outside_replayed(struct outside *o, uint32_t stream, uint32_t flags, uint32_t error);

/*
 * A resumed run goes on live: what was connected then is broken off, connects without an answer
 * begin, and datagrams go on.
 */
void outside_revive(struct outside *o);

/* What to poll; at most OUTSIDE_MAX entries. */
size_t outside_poll(const struct outside *o, bool is_asked, struct pollfd *fds);
/* The host's time by which a connect gives up; 0: none. */
uint64_t outside_deadline_ns(const struct outside *o);
/* Sends what the network takes. */
void outside_flush(struct outside *o);
/* So much waits for the network that the guest has to. */
bool outside_is_full(const struct outside *o);
/* The guest is gone: sends what is left, for ten seconds at most. */
void outside_linger(struct outside *o);

#endif
