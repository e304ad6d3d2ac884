/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a FIFO waits in the kernel until the other side is there. Here the task is parked
 * instead, and tried again until its open succeeds at once.
 */
#ifndef SUPERVISE_FIFO_H
#define SUPERVISE_FIFO_H

#include "supervise/engine/call.h"
#include "supervise/files/path.h"

enum fifo_answer {
	FIFO_NATIVE,   /* does not block */
	FIFO_NONBLOCK, /* a writer waits: open with O_NONBLOCK, then take it off again */
	FIFO_PARKED,   /* park_on was called */
};

enum fifo_answer fifo_open(struct task *t, const struct path *fifo, uint64_t flags);

#endif
