/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork lent to a process that is not trusted: over a socket it reads the fork's prefix and hands
 * in what it appends, and has no file of the ledger, so that nothing else of it can be read or
 * harmed. What was handed in waits in a nameless file until ledger_port_commit appends it all in
 * one transaction; the run stays as it was when nobody does.
 *
 * Frames in both directions are u32 length, u8 kind, body; numbers are little-endian, texts are u32
 * length and bytes (a length of 2^32 - 1 is no text at all). The borrower asks, one answer comes:
 *
 *   HELLO                              -> HELLO text run, text goal, u64 events lent, u64 counter
 * of ids READ u64 from                      -> EVENTS u32 count, then events; none: the end APPEND
 * u8 is_block, u32 n, events  -> DONE text id of the last | REFUSED u32 code, text words
 *
 * An event: u64 seq, u64 time, u64 block, then the texts id, type, actor, caused_by, frame,
 * payload. Of one to append seq, id and block are 0 and no text.
 */
#ifndef LEDGER_PORT_H
#define LEDGER_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "ledger/ledger.h"

struct ledger_port_limits {
	uint64_t events; /* that may be appended; 0: any number */
	uint64_t bytes;	 /* of them in the nameless file; 0: any number */
};

/* The lender's side. */

struct ledger_port;

/*
 * Lends a run to whoever holds the other end of a socket (a stream; *ret_fd, close-on-exec, goes to
 * the borrower). The run must not be appended to meanwhile. The ledger is borrowed.
 */
MUST_CHECK int ledger_port_open(struct ledger *l, const char *run,
	const struct ledger_port_limits *limits, struct ledger_port **ret, int *ret_fd,
	struct error *err);
void ledger_port_cleanup(struct ledger_port **p);
#define auto_ledger_port CLEANUP(ledger_port_cleanup)
/* To be polled for ledger_port_events; -1 once the borrower is gone or was cut off. */
int ledger_port_fd(const struct ledger_port *p);
short ledger_port_wants(const struct ledger_port *p);
/*
 * What is to be done now; never blocks, and holds one request and one answer at most. A borrower
 * that breaks the rules is cut off, which ledger_port_fault tells. -1 is trouble of our own.
 */
MUST_CHECK int ledger_port_step(struct ledger_port *p, struct error *err);
uint64_t ledger_port_appended(const struct ledger_port *p); /* events handed in */
bool ledger_port_is_spent(const struct ledger_port *p); /* one was refused for the limits' sake */
const char *ledger_port_fault(const struct ledger_port *p); /* or NULL */
/* Appends what was handed in, all or nothing. Then the port is done with. */
MUST_CHECK int ledger_port_commit(struct ledger_port *p, struct error *err);

/* The borrower's side; it links nothing of the database. */

struct ledger_link;

/* Takes fd. */
MUST_CHECK int ledger_link_open(int fd, struct ledger_link **ret, struct error *err);
void ledger_link_cleanup(struct ledger_link **k);
#define auto_ledger_link CLEANUP(ledger_link_cleanup)
const char *ledger_link_run(const struct ledger_link *k);
/* The next event of the prefix, from the first on: 1, 0, -1. Valid until the next call. */
MUST_CHECK int ledger_link_next(struct ledger_link *k, struct ledger_event *ret, struct error *err);
/* As ledger_append, with ids that the ledger gives. ERR_LIMIT: no more may be appended. */
MUST_CHECK int ledger_link_append(struct ledger_link *k, const struct ledger_new *events,
	size_t count, bool is_block, struct error *err);
/* Of the last event appended; "" at first. */
const char *ledger_link_id(const struct ledger_link *k);
/* As ledger_writer_number. */
uint64_t ledger_link_number(const struct ledger_link *k);

#endif
