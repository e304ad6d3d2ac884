/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input from outside, let in at moments that the guest alone decides: here standard input, and what
 * comes over connections by outside.h.
 *
 * How it works: the guest reads a pipe whose other end the host has. The host puts something into
 * it only when it is asked, and it is asked only when nothing in the sandbox can go on: every task
 * waits, and one of them for that pipe, or all are idle and one looked at it. Those moments are
 * numbered; the host records at which of them what came, and a replay gives the same at the same.
 * So a read is a read of a pipe between guests, and needs no word here.
 */
#ifndef SUPERVISE_EXTERNAL_H
#define SUPERVISE_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

void external_init(bool is_asked_for);
/* Input is let in this way. */
bool external_is_asked_for(void);
/* The end of standard input was let in. */
bool external_stdin_is_over(void);
/* A guest looked at it, found nothing and goes on: it may be waiting by looking again. */
void external_looked(void);
/* True once after that. */
bool external_take_looked(void);
/* More can come, and a parked task waits for it. */
bool external_is_waited_for(void);

enum external_answer {
	EXTERNAL_CAME,
	EXTERNAL_NOTHING, /* up to the instant that was asked for */
	EXTERNAL_SIGNAL,  /* a signal from outside came first */
	EXTERNAL_NO_MORE, /* it has ended, or nobody makes room */
};
/*
 * Nobody can go on before due_ns (UINT64_MAX: ever): what comes before that? After EXTERNAL_CAME
 * the clock belongs to *ret_now_ns, earlier than due_ns.
 */
enum external_answer external_ask(uint64_t due_ns, uint64_t *ret_now_ns);

#endif
