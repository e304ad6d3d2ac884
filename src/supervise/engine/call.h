/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler of a mediated system call looks like. A row of wire/syscalls.def names an enter
 * handler, run while the guest task stands at its seccomp stop, and for some rows a leave handler,
 * run when the kernel has done the call.
 *
 * An enter handler is also the retry: when it answers ACT_PARK the task sleeps, and the same
 * handler runs again with the same call whenever what it waits for may have changed, until it
 * answers something else. So it must test without blocking and without side effects until it
 * succeeds; what it needs to remember between tries is in task->park (task.h).
 */
#ifndef SUPERVISE_CALL_H
#define SUPERVISE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct task;

struct call {
	int nr; /* the kernel's number; compare with SYS_... */
	uint64_t arg[6];
	int64_t result; /* enter: set before ACT_DONE; leave: the kernel's answer, may be changed */
};

enum act {
	ACT_NATIVE, /* the kernel does it; no second stop (one if call_set_arg was used) */
	ACT_LEAVE,  /* the kernel does it, then the row's leave handler runs */
	ACT_DONE,   /* the kernel does not see it; the guest gets c->result */
	ACT_PARK,   /* it would block: park_on... said on what (sched.h) */
};

typedef enum act call_enter_fn(struct task *t, struct call *c);
typedef void call_leave_fn(struct task *t, struct call *c);

enum verdict {
	VERDICT_ALLOW,	/* native, never stops */
	VERDICT_TIGHT,	/* native until its process owns a descriptor that must be mediated */
	VERDICT_STOP,	/* stops; the enter handler decides */
	VERDICT_ENOSYS, /* fails as on a kernel without it; never stops */
	VERDICT_EPERM,	/* fails as without privilege; never stops */
	VERDICT_COUNT
};

/* One row of wire/syscalls.def. */
struct syscall_row {
	const char *name;
	int nr; /* on this architecture; -1: it has none */
	enum verdict verdict;
	call_enter_fn *enter;
	call_leave_fn *leave;
};

/* Fills the dispatch array from wire/syscalls.def. */
void call_init(void);
/* The row for a number, or NULL: nobody decided (REASON_UNKNOWN_SYSCALL). */
const struct syscall_row *call_row(int nr);
/* All rows, for building the filter. */
const struct syscall_row *call_rows(int *ret_count);

/* `return call_done(c, -EINVAL);` */
static inline enum act call_done(struct call *c, int64_t result)
{
	c->result = result;
	return ACT_DONE;
}

/*
 * Changes an argument (or the number) for the kernel's eyes; the loop forces a second stop and puts
 * the guest's own registers back there, since a system call preserves its argument registers.
 */
void call_set_arg(struct task *t, int i, uint64_t value);
void call_set_nr(struct task *t, int nr);

#endif
