/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to the outside, made by the host on request.
 *
 * How it works: in the guest's network every address is its own (launch/tcp.h), so the supervisor
 * can stand in for any peer: it takes the peer's address and port, and the guest's socket is
 * connected to that by the guest's own kernel. Names, readiness, errors and options of the socket
 * are therefore the kernel's. What the guest sends is taken out and told to the host whenever
 * nothing in the sandbox can go on, and before the guest sends more; what comes from outside is
 * put in at the moments of external.h. Whether an address may be reached, and what became of a
 * connect, is the host's answer, which comes at such a moment too: the caller waits for it.
 *
 * What listens inside is found first: such a connection stays inside, and nobody is asked.
 */
#ifndef SUPERVISE_OUTSIDE_H
#define SUPERVISE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "supervise/io/fdkind.h"

void outside_init(bool is_on);
bool outside_is_on(void);

enum outside_way {
	OUTSIDE_INSIDE,	 /* not the outside's: the kernel connects */
	OUTSIDE_WAITS,	 /* the host was asked, and has not answered */
	OUTSIDE_REFUSED, /* with *ret_errno */
	OUTSIDE_READY,	 /* somebody stands in: the kernel connects, then outside_joined */
};
/* The guest connects, or sends a datagram, to this address. A handler's retry asks again. */
enum outside_way outside_reach(struct task *t, const struct gfd *g, const struct sockaddr *to,
	socklen_t len, int *ret_errno);
/* After OUTSIDE_READY for a connect of TCP. False: it did not come to be. */
bool outside_joined(const struct gfd *g);
/* The caller waits no longer for the answer. */
void outside_give_up(const struct gfd *g);

/* This socket leads outside and more may come: it is waited for, or looked at, and found empty. */
bool outside_looks(const struct gfd *g);
/* Before the guest sends more: what it has sent so far goes. */
void outside_before_sending(const struct gfd *g);
/* All that guests have sent goes to the host; true when there was any. */
bool outside_drain(void);

/* Tells the host which streams are waited for: before a question. */
void outside_tell_wanted(void);
/* What the host answered for a stream. */
struct outside_input {
	uint32_t stream, flags, error;
	const unsigned char *data;
	size_t len;
};
void outside_take(const struct outside_input *in);

#endif
