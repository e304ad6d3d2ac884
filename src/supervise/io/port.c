/* SPDX-License-Identifier: Apache-2.0 */
/* Ephemeral ports from a counter: see port.h. */
#include "supervise/io/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "supervise/report.h"

/* SO_PASSPIDFD, younger than the C library's headers */
enum { PASSPIDFD = 76 };
enum { PORT_FIRST = 32768, PORT_LAST = 60999 };
/* Downwards from here, as the kernel's own: above every pid. */
#define NETLINK_FIRST 0xffffefffu
/* unix(7): a NUL and five hexadecimal digits */
enum { AUTOBIND_DIGITS = 5, AUTOBIND_LAST = 0xfffff };

static uint16_t next_port = PORT_FIRST;

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage room;
};

/* Where the port stands, or NULL when it is no inet address. */
static in_port_t *port_of(union address *a, socklen_t len)
{
	if (a->any.sa_family == AF_INET && len >= sizeof(a->in))
		return &a->in.sin_port;
	/* SIN6_LEN_RFC2133: without the scope id */
	if (a->any.sa_family == AF_INET6 && len >= 24)
		return &a->in6.sin6_port;
	return NULL;
}

static int socket_option(const struct gfd *g, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(g->fd, SOL_SOCKET, name, &value, &len) < 0 ? -1 : value;
}

bool port_is_shared(const struct gfd *g)
{
	int domain = socket_option(g, SO_DOMAIN);

	return (domain == AF_INET || domain == AF_INET6) && socket_option(g, SO_REUSEPORT) > 0;
}

void port_share(const struct gfd *g)
{
	struct sock_filter first = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = {.len = 1, .filter = &first};

	if (setsockopt(g->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) < 0)
		report_not_enforced(REASON_UNMODELLED, "SO_REUSEPORT: %s", strerror(errno));
}

int port_bind_shared(const struct gfd *g, const struct sockaddr *address, socklen_t len)
{
	if (bind(g->fd, address, len) < 0)
		return -errno;
	if (socket_option(g, SO_TYPE) != SOCK_STREAM)
		port_share(g);
	return 0;
}

bool port_is_open(const struct sockaddr *address, socklen_t len)
{
	union address a = {0};
	const in_port_t *port;

	memcpy(&a, address, len < sizeof(a) ? len : sizeof(a));
	port = port_of(&a, len);
	return port && *port == 0;
}

int port_bind(const struct gfd *g, const struct sockaddr *address, socklen_t len)
{
	union address a = {0};
	in_port_t *port;

	if (len > sizeof(a))
		return -EINVAL;
	memcpy(&a, address, len);
	port = port_of(&a, len);
	if (!port)
		return -EINVAL;
	for (int tries = PORT_FIRST; tries <= PORT_LAST; tries++) {
		*port = htons(next_port);
		next_port = next_port == PORT_LAST ? PORT_FIRST : (uint16_t)(next_port + 1);
		if (bind(g->fd, &a.any, len) == 0) {
			if (port_is_shared(g) && socket_option(g, SO_TYPE) != SOCK_STREAM)
				port_share(g);
			return 0;
		}
		if (errno != EADDRINUSE)
			return -errno;
	}
	return -EADDRINUSE;
}

int port_bind_unix(const struct gfd *g)
{
	static unsigned next;

	for (unsigned tries = 0; tries <= AUTOBIND_LAST; tries++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 + AUTOBIND_DIGITS;

		snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%05x", next);
		next = (next + 1) & AUTOBIND_LAST;
		if (bind(g->fd, (const struct sockaddr *)&a, len) == 0)
			return 0;
		if (errno != EADDRINUSE)
			return -errno;
	}
	return -ENOSPC;
}

void port_name_unix(const struct gfd *g)
{
	struct sockaddr_un a = {0};
	socklen_t len = sizeof(a);

	if (socket_option(g, SO_DOMAIN) != AF_UNIX ||
		(socket_option(g, SO_PASSCRED) <= 0 && socket_option(g, PASSPIDFD) <= 0))
		return;
	if (getsockname(g->fd, (struct sockaddr *)&a, &len) < 0 || len > sizeof(sa_family_t))
		return;
	if (port_bind_unix(g) < 0)
		return; /* the kernel tries itself, and finds no name either */
}

/* netlink(7): the first socket of a process gets its pid; others what the kernel draws at random.
 */
int port_bind_netlink(const struct task *t, const struct gfd *g, uint32_t groups)
{
	static uint32_t next = NETLINK_FIRST;
	struct sockaddr_nl a = {
		.nl_family = AF_NETLINK, .nl_pid = (uint32_t)t->proc->pid, .nl_groups = groups};

	while (bind(g->fd, (const struct sockaddr *)&a, sizeof(a)) < 0) {
		if (errno != EADDRINUSE)
			return -errno;
		a.nl_pid = next--;
	}
	return 0;
}

static void choose_netlink(const struct task *t, const struct gfd *g)
{
	struct sockaddr_nl a = {0};
	socklen_t len = sizeof(a);

	if (getsockname(g->fd, (struct sockaddr *)&a, &len) < 0 || a.nl_pid != 0)
		return;
	if (port_bind_netlink(t, g, 0) < 0)
		return; /* the kernel tries itself, and its answer is the guest's */
}

void port_choose(const struct task *t, const struct gfd *g)
{
	union address a = {0};
	socklen_t len = sizeof(a);
	const in_port_t *port;

	if (getsockname(g->fd, &a.any, &len) < 0)
		return;
	if (a.any.sa_family == AF_NETLINK)
		choose_netlink(t, g);
	port = port_of(&a, len);
	if (!port || *port != 0)
		return;
	/* A failure is the guest's: its own call says why. */
	if (port_bind(g, &a.any, len) < 0)
		return;
}

void port_name_sender(const struct task *t, const struct gfd *g)
{
	port_choose(t, g);
	port_name_unix(g);
}
