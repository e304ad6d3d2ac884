/* SPDX-License-Identifier: Apache-2.0 */
/* timerfd: what its readers need of sys/timerfd.c. */
#ifndef SUPERVISE_SYS_TIMERFD_H
#define SUPERVISE_SYS_TIMERFD_H

#include "supervise/io/fdkind.h"

/* g is about to be read: if it is a timer that rests unread, it counts what came due and goes on.
 */
void timerfd_before_read(const struct gfd *g);

#endif
