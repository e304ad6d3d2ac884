/* SPDX-License-Identifier: Apache-2.0 */
/* timerfd: what its readers need of sys/timerfd.c. */
#ifndef SUPERVISE_SYS_TIMERFD_H
#define SUPERVISE_SYS_TIMERFD_H

#include <stdbool.h>

#include "supervise/engine/call.h"
#include "supervise/io/fdkind.h"

/* g is about to be read: if it is a timer that rests unread, it counts what came due and goes on.
 */
void timerfd_before_read(const struct gfd *g);
/* The descriptor is one: writes to it are refused. */
bool timerfd_is(const struct gfd *g);
/* The same of a link /proc/PID/fd/N. */
bool timerfd_is_linked(const char *link);
/* ioctl(TFD_IOC_SET_TICKS). */
enum act timerfd_set_ticks(struct task *t, struct call *c);

#endif
