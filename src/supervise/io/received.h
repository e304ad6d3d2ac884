/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel has handed to a guest and may not stay as it is: host times in messages. */
#ifndef SUPERVISE_RECEIVED_H
#define SUPERVISE_RECEIVED_H

#include "supervise/engine/giov.h"
#include "supervise/io/fdkind.h"

/* Messages of this descriptor have to pass received_message. */
bool received_matters(const struct gfd *g);
/* `len` bytes arrived in v, or more that did not fit; `header` is the guest address of the msghdr,
 * 0 when there is none. Returns the length that the guest is to see. */
int64_t received_message(
	struct task *t, const struct gfd *g, const struct giov *v, uint64_t header, int64_t len);

#endif
