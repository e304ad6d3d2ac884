/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of terminals that guests make for each other (pty pairs), and a terminal's own time-outs.
 */
#ifndef SUPERVISE_TTY_H
#define SUPERVISE_TTY_H

#include "supervise/engine/call.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/giov.h"
#include "supervise/engine/task.h"

/* A read of a pty that leads to another guest and has something to read: takes all that was written
 * to it so far. ACT_NATIVE when the kernel's own read finds the same. */
enum act tty_read(struct task *t, struct call *c, struct gfd *g, const struct giov *v);
/* Nothing to read: parks for VTIME where VMIN is 0, for ever otherwise. */
enum act tty_park(struct task *t, struct call *c, const struct gfd *g);

#endif
