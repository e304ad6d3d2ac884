/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control frames between host and supervisor over one inherited stream socket: u32 type, u32
 * length, payload. All integers little-endian. docs/format/control describes every payload.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"

enum {
	FRAME_VERSION = 4,
	FRAME_PAYLOAD_MAX = 8 * 1024 * 1024,
	FRAME_HEADER = 8,
	FRAME_EXIT_OOM = 1,    /* flag of EXIT: the supervisor's memory watch killed something */
	FRAME_EXIT_KILLED = 2, /* a guest died of a SIGKILL that nobody inside sent */
	/* Flags of INPUT. */
	FRAME_INPUT_END = 1,	 /* and that was all */
	FRAME_INPUT_SIGNAL = 2,	 /* nothing yet: a SIGNAL frame came before */
	FRAME_INPUT_NO_ROOM = 4, /* nothing, since nobody takes out what is there */
	/* Flags of NET_SENT and NET_INPUT. */
	FRAME_NET_END = 1,	 /* and that was all in this direction */
	FRAME_NET_RESET = 2,	 /* the connection was broken off */
	FRAME_NET_CONNECTED = 4, /* NET_INPUT: the answer to NET_CONNECT, without bytes */
};

/* X(NAME, number, direction, payload) */
#define FRAME_TYPES(X) \
	X(LAUNCH, 1, "host", "contract and conditions: contract_encode") \
	X(STARTED, 2, "supervisor", "u32 pid of the first guest inside") \
	X(TIMER_ARMED, 3, "supervisor", "u32 task, u64 deadline on CLOCK_MONOTONIC") \
	X(TIMER_FIRED, 4, "supervisor", "u32 task, u64 deadline") \
	X(EXTERNAL_READ, 5, "supervisor", "u32 task, u64 bytes, string what") \
	X(ENTROPY, 6, "supervisor", "u32 process ordinal, u64 draw ordinal, u32 bytes") \
	X(EXEC, 7, "supervisor", "u32 process ordinal, string path as the guest resolved it") \
	X(DECISIONS, 8, "supervisor", "a run of 48-byte decision records: wire/decision.h") \
	X(COUNTS, 9, "supervisor", "struct counts: wire/counts.h") \
	X(NOT_ENFORCED, 10, "supervisor", \
		"u32 reason, u32 first (1 the first time), string detail") \
	X(DIVERGED, 11, "supervisor", "u64 ordinal, string detail") \
	X(DEADLOCK, 12, "supervisor", "string: each task and what it waits for") \
	X(EXIT, 13, "supervisor", \
		"u32 kind (0 exited, 1 signalled), u32 code or signal, u32 flags") \
	X(FAILED, 14, "supervisor", \
		"u32 error code, u32 errno, string message: the run could not start") \
	X(SIGNAL, 15, "host", "u32 signal for the guest's first process") \
	X(ASSUMPTION, 16, "supervisor", "u32 reason, string detail") \
	X(MAPPED, 17, "supervisor", \
		"u32 process ordinal, string path of a file mapped executable") \
	X(WAITER, 18, "supervisor", \
		"u32 task, u32 pid, u32 tid, string name, string call, string arguments, " \
		"string what it waits for: of a deadlock") \
	X(INPUT_ASK, 19, "supervisor", \
		"u64 request, u64 now, u64 due (2^64 - 1: none), u32 task (0: nobody in " \
		"particular)") \
	X(INPUT, 20, "host", "u64 request, u64 now, u32 flags, u32 bytes put into standard input") \
	X(NET_CONNECT, 21, "supervisor", \
		"u32 stream, u32 task, u64 now, u32 type (1 bytes, 2 datagrams), address") \
	X(NET_SENT, 22, "supervisor", "u32 stream, u64 now, u32 flags, bytes") \
	X(NET_WANTED, 23, "supervisor", "u32 stream: its guest waits for what comes") \
	X(NET_INPUT, 24, "host", \
		"u64 request, u64 now, u32 stream, u32 flags, u32 errno of a connect, bytes")

enum frame_type {
#define X(name, number, direction, payload) FRAME_##name = number,
	FRAME_TYPES(X)
#undef X
};

/* The frame's name, or NULL for a number that is none. */
const char *frame_name(uint32_t type);

/* Appends one frame to a buffer, for writing several at once. */
void frame_put(struct bytes *out, enum frame_type type, const void *payload, size_t len);
MUST_CHECK int frame_send(
	int sock, enum frame_type type, const void *payload, size_t len, struct error *err);
/*
 * Reads one frame into *buf (emptied first). 1: got one; 0: the other side closed between frames;
 * -1: error, among them an unknown type (ERR_FORMAT) and a length over FRAME_PAYLOAD_MAX.
 */
MUST_CHECK int frame_recv(int sock, uint32_t *ret_type, struct bytes *buf, struct error *err);

#endif
