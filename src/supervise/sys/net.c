/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: making and naming them. Peers live in the sandbox's own network namespace. */
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervise/engine/clock.h"
#include "supervise/io/fdkind.h"
#include "supervise/files/files.h"
#include "supervise/engine/gmem.h"
#include "supervise/engine/handlers.h"
#include "supervise/engine/inject.h"
#include "supervise/engine/fdwait.h"
#include "supervise/io/outside.h"
#include "supervise/io/port.h"
#include "supervise/io/stream.h"
#include "supervise/report.h"
#include "supervise/engine/sched.h"
#include "supervise/engine/tighten.h"
#include "wire/sysnr.h"

/* tcp(7): a connect gives up after 127 seconds. How long an answer over loopback may take the host,
 * which is much less than the second after which it is asked for again. */
#define GIVES_UP_NS 127000000000u
enum { ANSWER_MS = 100 };

enum act enter_accept(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct stream_options o = {0};
	int listening = 0;
	socklen_t len = sizeof(listening);

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	if (getsockopt(g.fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) < 0 || !listening)
		return ACT_NATIVE; /* EINVAL */
	tighten(t);		   /* the new one's number is not known */
	o.not_blocking = gfd_is_nonblock(&g);
	return stream_wait_readable(t, c, &g, &o);
}

static int read_address(
	struct task *t, const struct call *c, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	uint64_t len = (uint32_t)c->arg[2];

	if (len < sizeof(sa_family_t) || len > sizeof(*ret))
		return -EINVAL;
	*ret_len = (socklen_t)len;
	return gmem_read(t, c->arg[1], ret, len);
}

/* Makes a file unless the name is abstract or left to the kernel. */
static enum act bind_unix(struct task *t, const struct sockaddr_un *address, socklen_t len)
{
	char path[sizeof(address->sun_path) + 1] = "";
	size_t room = len - offsetof(struct sockaddr_un, sun_path);

	if (len <= offsetof(struct sockaddr_un, sun_path) || address->sun_path[0] == '\0')
		return ACT_NATIVE;
	memcpy(path, address->sun_path,
		room < sizeof(address->sun_path) ? room : sizeof(address->sun_path));
	return files_making(t, path);
}

enum act enter_bind(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct sockaddr_storage address = {0};
	struct sockaddr_nl netlink;
	socklen_t len = 0;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	if (read_address(t, c, &address, &len) < 0)
		return ACT_NATIVE; /* the kernel says why not */
	if (address.ss_family == AF_UNIX && len == sizeof(sa_family_t))
		return call_done(c, port_bind_unix(&g));
	if (address.ss_family == AF_UNIX)
		return bind_unix(t, (const struct sockaddr_un *)&address, len);
	if (address.ss_family == AF_NETLINK && len >= sizeof(netlink)) {
		memcpy(&netlink, &address, sizeof(netlink));
		return netlink.nl_pid ? ACT_NATIVE
				      : call_done(c, port_bind_netlink(t, &g, netlink.nl_groups));
	}
	if (!port_is_open((const struct sockaddr *)&address, len))
		return port_is_shared(&g)
			       ? call_done(c, port_bind_shared(
						      &g, (const struct sockaddr *)&address, len))
			       : ACT_NATIVE;
	return call_done(c, port_bind(&g, (const struct sockaddr *)&address, len));
}

/*
 * Nagle's algorithm holds a small segment back until an acknowledgement comes, which may be delayed
 * in the host's time. So it is off from the start; accepted sockets inherit that from the listener.
 */
static bool is_tcp(const struct gfd *g)
{
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	return getsockopt(g->fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
	       (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

static void send_at_once(const struct gfd *g)
{
	int on = 1;

	if (!is_tcp(g))
		return;
	/* Cannot fail on a TCP socket that we hold. */
	if (setsockopt(g->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return;
}

/*
 * Whoever connects while a TCP listener's queue is full is not answered, and asks again after a
 * second of the host's time. So the queue is as long as the kernel lets it be (net.core.somaxconn),
 * whatever the guest asked for; connect_tcp waits where even that is full.
 */
enum { QUEUE_LONGEST = 0x7fffffff };

enum act enter_listen(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	port_choose(t, &g);
	if (!is_tcp(&g))
		return ACT_NATIVE;
	send_at_once(&g);
	if (listen(g.fd, QUEUE_LONGEST) < 0)
		return call_done(c, -errno);
	if (port_is_shared(&g))
		port_share(&g);
	return call_done(c, 0);
}

/*
 * A unix socket waits while the listener's queue is full, and only the guest itself can connect:
 * its credentials and its view of the path count. So it tries with the description non-blocking.
 */
static enum act connect_unix(struct task *t, struct call *c, struct gfd *g)
{
	int64_t r;

	gfd_set_nonblock(g);
	r = inject(t, NR_connect, c->arg);
	if (r != -EAGAIN)
		return call_done(c, r);
	if (t->park.timed_out)
		return call_done(c, -EAGAIN);
	return stream_park(t, g, SO_SNDTIMEO);
}

static bool is_unanswered(const struct gfd *g)
{
	struct pollfd soon = {.fd = g->fd, .events = POLLOUT};
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	/* Nobody runs meanwhile: what the kernel left to its own thread is done by then. */
	(void)poll(&soon, 1, ANSWER_MS);
	return getsockopt(g->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_SYN_SENT;
}

/*
 * Over loopback the handshake is done, or refused, before connect returns, unless the listener's
 * queue is full. Then the attempt is taken back, and made again when somebody may have accepted.
 */
static enum act connect_tcp(struct task *t, struct call *c, struct gfd *g,
	const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};
	bool waits = !gfd_is_nonblock(g);
	uint64_t limit = 0;

	gfd_set_nonblock(g);
	if (connect(g->fd, address, len) == 0)
		return call_done(c, 0);
	if (errno != EINPROGRESS)
		return call_done(c, -errno);
	if (!is_unanswered(g)) /* whoever does not wait asks later */
		return waits ? ACT_NATIVE : call_done(c, -EINPROGRESS);
	if (!waits) {
		report_not_enforced(REASON_UNMODELLED,
			"connecting without waiting to a listener whose queue is full");
		return call_done(c, -EINPROGRESS);
	}
	if (connect(g->fd, &none, sizeof(none)) < 0)
		return call_done(c, -errno);
	limit = stream_limit(g, SO_SNDTIMEO);
	if (t->park.timed_out)
		return call_done(c, limit != 0 && limit < GIVES_UP_NS ? -EINPROGRESS : -ETIMEDOUT);
	if (limit == 0 || limit >= GIVES_UP_NS)
		return park_on_until(t, PARK_FD, clock_monotonic() + GIVES_UP_NS);
	return stream_park(t, g, SO_SNDTIMEO);
}

/* The host was asked for a connection: parked until it says what became of that. */
static enum act wait_for_host(struct task *t, struct call *c, const struct gfd *g)
{
	if (t->park.timed_out) {
		outside_give_up(g);
		return call_done(c, -ETIMEDOUT);
	}
	t->park.external = true;
	fdwait_never(t);
	return stream_park(t, g, SO_SNDTIMEO);
}

static enum act connect_inet(struct task *t, struct call *c, struct gfd *g,
	const struct sockaddr *address, socklen_t len)
{
	int why = 0;
	enum outside_way way = outside_reach(t, g, address, len, &why);
	enum act act;

	if (way == OUTSIDE_WAITS)
		return wait_for_host(t, c, g);
	if (way == OUTSIDE_REFUSED)
		return call_done(c, -why);
	if (!is_tcp(g))
		return ACT_NATIVE;
	act = connect_tcp(t, c, g, address, len);
	if (way == OUTSIDE_READY && !outside_joined(g))
		report_not_enforced(REASON_UNMODELLED, "a connection outside that went astray");
	return act;
}

enum act enter_connect(struct task *t, struct call *c)
{
	auto_gfd struct gfd g = GFD_NONE;
	struct sockaddr_storage address = {0};
	socklen_t len = 0;

	if (gfd_open(t, (int)c->arg[0], &g) < 0 || g.kind != FDKIND_SOCKET)
		return ACT_NATIVE;
	if (read_address(t, c, &address, &len) < 0 || address.ss_family == AF_UNSPEC)
		return ACT_NATIVE;
	if (address.ss_family == AF_UNIX)
		port_name_unix(&g);
	if (address.ss_family == AF_UNIX)
		return gfd_is_nonblock(&g) ? ACT_NATIVE : connect_unix(t, c, &g);
	port_choose(t, &g);
	send_at_once(&g);
	return connect_inet(t, c, &g, (const struct sockaddr *)&address, len);
}
