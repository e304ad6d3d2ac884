/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of pipes, sockets, terminals and anonymous descriptors, which can block: when
 * the kernel would answer at once it does the call itself; otherwise the task is parked, or the
 * supervisor moves the bytes in pieces.
 */
#ifndef SUPERVISE_STREAM_H
#define SUPERVISE_STREAM_H

#include "supervise/engine/call.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/giov.h"
#include "supervise/engine/task.h"

/* Room for pieces; used within one stop. */
enum { STREAM_CHUNK = 64 * 1024 };
extern char stream_chunk[STREAM_CHUNK];

/* What the call is allowed to do besides: MSG_ flags of the send and recv families. */
struct stream_options {
	int msg_flags;
	bool not_blocking; /* O_NONBLOCK, MSG_DONTWAIT, RWF_NOWAIT */
};

/*
 * Something can be taken from it (data, end of file, an error, a connection): ACT_NATIVE, or
 * ACT_LEAVE from outside (stream_leave_read reports it). Otherwise parks, or passes the call on
 * when it does not block, or answers EAGAIN after SO_RCVTIMEO.
 */
enum act stream_wait_readable(
	struct task *t, struct call *c, const struct gfd *g, const struct stream_options *o);
void stream_leave_read(struct task *t, struct call *c);

/* Writes all of v: by the kernel when it fits, else in pieces, parking for more room. */
enum act stream_write(struct task *t, struct call *c, struct gfd *g, const struct giov *v,
	const struct stream_options *o);
/* Bytes, as opposed to messages that go whole. */
bool stream_is_bytes(const struct gfd *g);
/* How long such a socket waits (SO_RCVTIMEO or SO_SNDTIMEO): nanoseconds, or 0 for ever. */
uint64_t stream_limit(const struct gfd *g, int what);
/* Parks until something changes at g; `what` is SO_RCVTIMEO or SO_SNDTIMEO for a socket, else 0. */
enum act stream_park(struct task *t, const struct gfd *g, int what);
/* A non-blocking call found nothing: whoever it waits for may run first. */
enum act stream_idle(struct task *t);

#endif
