/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a descriptor whose reads and writes must be mediated: the process is tightened.
 */
#include "supervise/io/fdkind.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/inotify.h"
#include "supervise/engine/tighten.h"

enum act enter_create(struct task *t, struct call *c)
{
	(void)c;
	tighten(t);
	return ACT_NATIVE;
}

enum act enter_signalfd(struct task *t, struct call *c)
{
	(void)c;
	fdkind_signalfd_made();
	tighten(t);
	return ACT_NATIVE;
}

enum act enter_inotify(struct task *t, struct call *c)
{
	(void)c;
	inotify_made();
	tighten(t);
	return ACT_NATIVE;
}
