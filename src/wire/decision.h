/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision: a mediated call and what it was answered, a signal delivered, a task switch. The
 * stream of them is compared by --verify; its SHA-256 is `outputs.decisions` in the report. Holds
 * nothing that comes from the host.
 */
#ifndef WIRE_DECISION_H
#define WIRE_DECISION_H

#include <stddef.h>
#include <stdint.h>

enum { DECISION_SIZE = 48 };
/* The kernel made the call, and nobody looked at its answer. */
#define DECISION_NATIVE INT64_MIN

enum decision_kind {
	DECISION_CALL = 1,   /* nr, args as the guest gave them, result or DECISION_NATIVE */
	DECISION_SIGNAL = 2, /* nr: the signal delivered */
	DECISION_SWITCH = 3, /* nr: 0; args[0]: the task that runs next */
	DECISION_CLOCK = 4,  /* args[0]: nanoseconds the clock moved */
	DECISION_EXIT = 5,   /* nr: wait status */
	DECISION_CREATE = 6, /* args[0]: task created */
	/* Not the rule's choice: task, nr: its last call, args: its scheduling point, steps as in
	 * struct contract_switch, the next task; result: where the task stood, 0 in its call, -1
	 * where it gave way by itself */
	DECISION_FORCED = 7,
};

struct decision {
	uint16_t kind, nr;
	uint32_t task;	 /* task ordinal, from 1 */
	uint64_t now_ns; /* CLOCK_MONOTONIC, logical */
	uint64_t args[3];
	int64_t result;
};

void decision_encode(unsigned char out[DECISION_SIZE], const struct decision *d);
void decision_decode(const unsigned char in[DECISION_SIZE], struct decision *ret_d);

#endif
