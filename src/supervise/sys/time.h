/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and sleeps: what other files need of sys/time.c. */
#ifndef SUPERVISE_SYS_TIME_H
#define SUPERVISE_SYS_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/attr.h"
#include "supervise/engine/task.h"

enum sys_clock_kind { SYS_CLOCK_REALTIME, SYS_CLOCK_MONOTONIC, SYS_CLOCK_CPU };

/* A clock by its number, as t sees it. */
struct sys_clock {
	enum sys_clock_kind kind;
	int64_t id;
	uint64_t start_ns; /* CPU: since when it counts */
	bool own_thread;   /* CPU: it is the caller's own thread's */
};

/* 0, or -EINVAL: there is no such clock. */
MUST_CHECK int sys_time_clock(struct task *t, int64_t id, struct sys_clock *ret);
/* What it shows now, in nanoseconds. */
uint64_t sys_time_value(const struct sys_clock *clock);
/* t made a call that only reads a clock: counts it, and judges the streak. */
void sys_time_read(struct task *t);
struct timespec sys_time_spec(uint64_t ns);
/* Saturates; -EINVAL for what the kernel refuses. */
MUST_CHECK int sys_time_from_spec(const struct timespec *ts, uint64_t *ret_ns);
/* A sleep of t ends early because a handler runs: tells the guest what remained. */
void sys_time_interrupted(struct task *t);
/* t's address space is about to go: counts the reads of its unfinished window. */
void sys_time_count_rest(struct task *t);

#endif
