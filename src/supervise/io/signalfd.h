/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest reads from a signalfd. */
#ifndef SUPERVISE_IO_SIGNALFD_H
#define SUPERVISE_IO_SIGNALFD_H

#include "supervise/engine/giov.h"
#include "supervise/engine/task.h"

/* t took `len` bytes of siginfos from a signalfd into `to`: they are treated as at a delivery. */
void signalfd_taken(struct task *t, const struct giov *to, uint64_t len);

#endif
