/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness of many descriptors of a guest at once, for poll and select. */
#ifndef SUPERVISE_READY_H
#define SUPERVISE_READY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "supervise/engine/call.h"
#include "supervise/engine/task.h"

enum { READY_MAX = 4096 }; /* NOFILE's hard limit: PINNED.md */

/* Fills revents as poll(2) with a zero time-out would in the guest; how many are not zero.
 * *ret_external: standard input is among them. */
int ready_poll(struct task *t, struct pollfd *fds, size_t count, bool *ret_external);

/* How long a call waits and under which mask; filled by its front, used by ready_wait. */
struct ready_wait {
	bool has_limit;
	uint64_t limit_ns;
	bool has_mask;
	uint64_t mask;
	bool external;
};
/*
 * Nothing was ready: ACT_PARK; ACT_NATIVE when a signal that only the call's own mask lets through
 * is pending (the kernel will answer EINTR at once and put the mask right); ACT_DONE with 0 when
 * the limit is over.
 */
enum act ready_wait(struct task *t, struct call *c, const struct ready_wait *w);
/* Parked, until one of these changes. */
void ready_watch(struct task *t, const struct pollfd *fds, size_t count);
/* What is left of the limit now, for calls that tell. */
uint64_t ready_left(const struct task *t, const struct ready_wait *w);
/* A guest's timespec as a limit (addr 0: none): 0 or a negative errno. */
MUST_CHECK int ready_limit(struct task *t, uint64_t addr, struct ready_wait *ret);
/* A guest's signal mask (addr 0: none): 0 or a negative errno. */
MUST_CHECK int ready_mask(struct task *t, uint64_t addr, uint64_t size, struct ready_wait *ret);
/* The same limit from seconds and nanoseconds; -EINVAL when they are none. */
MUST_CHECK int ready_set_limit(struct ready_wait *ret, int64_t sec, int64_t nsec);
/* From milliseconds as poll and epoll_wait have them; negative: for ever. */
void ready_set_ms(struct ready_wait *ret, int ms);

#endif
