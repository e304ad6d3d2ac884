/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP over loopback, made independent of how fast the host is: see tcp.h.
 *
 * How it works: over loopback a segment reaches its receiver before the sender's call returns. What
 * lets real time in is that the kernel measures round trips to size buffers and windows, and holds
 * acknowledgements back for a while. So buffers have one fixed size, the window for congestion is
 * never in the way, and the routes to ourselves ask for acknowledgements at once. How much a read
 * finds and a write can put then follows from the calls alone.
 */
#include "launch/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

static const struct setting {
	const char *path, *value;
} settings[] = {
#define X(path, value) {"/proc/sys/" path, value},
#include "launch/tcp.def"
#undef X
};

/* Segments: more than any send buffer holds. */
enum { INITIAL_WINDOW = 1000, ROUTE_ROOM = 256 };

/*
 * After a while the kernel asks a receiver whose window is too small for a segment by sending a
 * part of one. Nothing is lost over loopback, so that can wait for as long as the kernel allows.
 */
enum { PROBE_MS = 120000 };

/* A request to the kernel's routing table. */
struct request {
	struct nlmsghdr h;
	struct rtmsg r;
	char attributes[ROUTE_ROOM];
};

static struct rtattr *attribute(
	struct request *q, unsigned short type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)((char *)q + NLMSG_ALIGN(q->h.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	q->h.nlmsg_len = NLMSG_ALIGN(q->h.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void number(struct request *q, unsigned short type, uint32_t value)
{
	attribute(q, type, &value, sizeof(value));
}

/* A route of the table `local`, out of the loopback device. */
static void begin(struct request *q, int type, int flags, int family, const char *text, int bits)
{
	unsigned char address[16];
	size_t len = family == AF_INET ? 4 : 16;

	*q = (struct request){.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(q->r)),
				      .nlmsg_type = (uint16_t)type,
				      .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags)},
		.r = {.rtm_family = (unsigned char)family,
			.rtm_dst_len = (unsigned char)bits,
			.rtm_table = RT_TABLE_LOCAL,
			.rtm_protocol = RTPROT_KERNEL,
			.rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
			.rtm_type = RTN_LOCAL}};
	inet_pton(family, text, address);
	attribute(q, RTA_DST, address, len);
	number(q, RTA_OIF, if_nametoindex("lo"));
}

static void set_source(struct request *q, const char *text)
{
	unsigned char address[4];

	inet_pton(AF_INET, text, address);
	attribute(q, RTA_PREFSRC, address, sizeof(address));
}

static void add_metrics(struct request *q)
{
	struct rtattr *all = attribute(q, RTA_METRICS, NULL, 0);
	char *start = (char *)all;

	number(q, RTAX_QUICKACK, 1);
	number(q, RTAX_INITCWND, INITIAL_WINDOW);
	number(q, RTAX_INITRWND, INITIAL_WINDOW);
	number(q, RTAX_RTO_MIN, PROBE_MS);
	number(q, RTAX_LOCK, 1 << RTAX_RTO_MIN);
	all->rta_len = (unsigned short)((char *)q + q->h.nlmsg_len - start);
}

static int ask(int sock, const struct request *q, struct error *err)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char room[ROUTE_ROOM];
	} answer;

	if (send(sock, q, q->h.nlmsg_len, 0) < 0 || recv(sock, &answer, sizeof(answer), 0) < 0)
		return error_sys(err, "routes of the loopback device");
	errno = answer.h.nlmsg_type == NLMSG_ERROR ? -answer.e.error : EPROTO;
	return errno ? error_sys(err, "routes of the loopback device") : 0;
}

static int set_routes(struct error *err)
{
	autoclose int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct request q;

	if (sock < 0)
		return error_sys(err, "netlink");
	begin(&q, RTM_NEWROUTE, NLM_F_REPLACE, AF_INET, "127.0.0.0", 8);
	set_source(&q, "127.0.0.1");
	add_metrics(&q);
	if (ask(sock, &q, err) < 0)
		return -1;
	begin(&q, RTM_NEWROUTE, NLM_F_REPLACE, AF_INET, "127.0.0.1", 32);
	set_source(&q, "127.0.0.1");
	add_metrics(&q);
	if (ask(sock, &q, err) < 0)
		return -1;
	if (access("/proc/sys/net/ipv6", F_OK) < 0)
		return 0;
	/* The kernel's own has metric 0, which a request cannot name: ours beside it, then that one
	 * (the first in order) goes. */
	begin(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, AF_INET6, "::1", 128);
	number(&q, RTA_PRIORITY, 1);
	add_metrics(&q);
	if (ask(sock, &q, err) < 0)
		return -1;
	begin(&q, RTM_DELROUTE, 0, AF_INET6, "::1", 128);
	return ask(sock, &q, err);
}

static int apply(const struct setting *list, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct setting *s = &list[i];
		autoclose int fd = open(s->path, O_WRONLY | O_CLOEXEC);
		size_t len = strlen(s->value);

		if (fd < 0 && errno == ENOENT && strstr(s->path, "/ipv6/"))
			continue; /* a kernel without it */
		if (fd < 0 || write(fd, s->value, len) != (ssize_t)len)
			return error_sys(err, "set %s to %s", s->path, s->value);
	}
	return 0;
}

int tcp_steady(struct error *err)
{
	return apply(settings, ARRAY_LEN(settings), err) < 0 ? -1 : set_routes(err);
}

int tcp_everywhere(struct error *err)
{
	/* Whoever stands in for a peer outside has that peer's port. */
	static const struct setting ports[] = {
		{"/proc/sys/net/ipv4/ip_unprivileged_port_start", "0"}};
	autoclose int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct request q;

	if (sock < 0)
		return error_sys(err, "netlink");
	if (apply(ports, ARRAY_LEN(ports), err) < 0)
		return -1;
	/* First itself: only what is ours can be the source of another route. */
	begin(&q, RTM_NEWROUTE, NLM_F_CREATE, AF_INET, TCP_OWN_ADDRESS, 32);
	set_source(&q, TCP_OWN_ADDRESS);
	add_metrics(&q);
	if (ask(sock, &q, err) < 0)
		return -1;
	begin(&q, RTM_NEWROUTE, NLM_F_CREATE, AF_INET, "0.0.0.0", 0);
	set_source(&q, TCP_OWN_ADDRESS);
	add_metrics(&q);
	if (ask(sock, &q, err) < 0)
		return -1;
	if (access("/proc/sys/net/ipv6", F_OK) < 0)
		return 0;
	begin(&q, RTM_NEWROUTE, NLM_F_CREATE, AF_INET6, "::", 0);
	add_metrics(&q);
	return ask(sock, &q, err);
}
