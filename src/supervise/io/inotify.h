/* SPDX-License-Identifier: Apache-2.0 */
/* inotify: the cookies that join the two halves of a rename come from a counter of the whole host.
 */
#ifndef SUPERVISE_INOTIFY_H
#define SUPERVISE_INOTIFY_H

#include <stdbool.h>

#include "supervise/engine/call.h"
#include "supervise/io/fdkind.h"
#include "supervise/engine/giov.h"
#include "supervise/engine/task.h"

/* Told when a guest made one: from then on descriptors are looked at for it. */
void inotify_made(void);
/* A guest may be told of what the supervisor itself does to files. */
bool inotify_is_used(void);
/* No guest is left. */
void inotify_over(void);
bool inotify_is(const struct gfd *g);
/* A read of one that has events: made here, with cookies numbered by first sight. */
enum act inotify_read(struct task *t, struct call *c, struct gfd *g, const struct giov *v);

#endif
