/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make a descriptor whose reads and writes must be mediated: the process is tightened.
 */
#include <errno.h>
#include <sys/socket.h>

#include "supervise/io/fdkind.h"
#include "supervise/engine/handlers.h"
#include "supervise/io/inotify.h"
#include "supervise/io/netlink.h"
#include "supervise/engine/tighten.h"

enum act enter_create(struct task *t, struct call *c)
{
	(void)c;
	tighten(t);
	return ACT_NATIVE;
}

enum act enter_socket(struct task *t, struct call *c)
{
	/* Of netlink's protocols, routing alone: the others are modules that a kernel may lack. */
	if ((int)c->arg[0] == AF_NETLINK && !netlink_made((int)c->arg[2]))
		return call_done(c, -EPROTONOSUPPORT);
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
