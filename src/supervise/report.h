/* SPDX-License-Identifier: Apache-2.0 */
/* Everything the supervisor tells the host: control frames over descriptor 3. */
#ifndef SUPERVISE_REPORT_H
#define SUPERVISE_REPORT_H

#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "wire/endpoint.h"
#include "wire/contract.h"
#include "wire/counts.h"
#include "wire/decision.h"
#include "wire/reasons.h"
#include "supervise/engine/task.h"

extern struct counts report_counts; /* the figures, counted where things happen */

void report_init(int control, bool decisions);
/* Frames are gathered; this writes what there is. Before any wait in real time, and on every tick.
 */
void report_flush(void);
/* A hole was touched. Said to the host the first time and for each new detail up to 16, counted
 * always. */
void report_not_enforced(enum reason reason, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Something that holds only under an assumption. */
void report_assumption(enum reason reason, const char *fmt, ...) PRINTF_LIKE(2, 3);
void report_decision(
	enum decision_kind kind, struct task *t, int nr, const uint64_t args[3], int64_t result);
/* A switch that the rule would not have made; nr: the last call of the task, ip: where it stood. */
void report_forced(const struct contract_switch *s, int nr, int64_t ip);
void report_timer_armed(struct task *t, uint64_t deadline_ns);
void report_timer_fired(struct task *t, uint64_t deadline_ns);
void report_external_read(struct task *t, uint64_t len, const char *what);
void report_entropy(uint32_t process, uint64_t draw, uint32_t len);
void report_exec(struct task *t, const char *path);
void report_mapped(struct task *t, const char *path);
void report_started(uint32_t pid);
/* A task of a deadlock, before report_deadlock: its name, call (or ""), arguments, what it waits
 * for. */
void report_waiter(const struct task *t, const char *name, const char *call, const char *arguments,
	const char *what);
void report_deadlock(const char *text);
/* A process died of a signal that nobody inside sent: told with the end, since the host knows
 * whether it ran out of memory. */
void report_killed_outside(void);
void report_failed(const struct error *err);
/* Flushes the decisions, sends COUNTS and EXIT. kind 0: code is the status; 1: the signal. */
void report_exit(uint32_t kind, uint32_t code);
/* The connections of io/outside.h. */
void report_connect(
	const struct task *t, uint32_t stream, bool datagrams, const struct endpoint *to);
void report_sent(uint32_t stream, uint32_t flags, const void *data, size_t len);
void report_wanted(uint32_t stream);
/* What the host answers to a question for input: INPUT of docs/format/control. */
struct report_input {
	uint64_t now_ns;
	uint32_t flags, len;
	/* NET_INPUT: not 0, and the rest, borrowed until the next question. */
	uint32_t stream, error;
	const unsigned char *data;
};
/* Asks, and waits for the answer. t: who waits, or NULL. A SIGNAL frame that comes first is kept
 * for report_asked_signal. */
void report_ask(const struct task *t, uint64_t request, uint64_t due_ns, struct report_input *ret);
/* The signal that came while an answer was waited for, once; or 0. The host has it on its tape. */
int report_asked_signal(void);
/* Reads what the host sent (SIGNAL frames); does not block. Returns the signal or 0. */
int report_poll_signal(void);

#endif
