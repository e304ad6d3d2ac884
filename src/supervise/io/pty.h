/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to terminals that guests make for each other (pty pairs), and who is in the background. */
#ifndef SUPERVISE_PTY_H
#define SUPERVISE_PTY_H

#include <stdbool.h>

#include "supervise/engine/call.h"
#include "supervise/engine/giov.h"
#include "supervise/engine/task.h"
#include "supervise/io/fdkind.h"

bool pty_is_master(const struct gfd *g);
/* A guest opened a master end: terminals send signals that no call tells. */
void pty_opened(void);
/* Its process is in the background of this terminal, which is its controlling one. */
bool pty_is_background(const struct task *t, const struct gfd *g);
/* A write to an end of a pty of the guest's own: when it is answered, the other end has all of it,
 * echo and signals too. */
enum act pty_write(
	struct task *t, struct call *c, struct gfd *g, const struct giov *v, bool not_blocking);

#endif
