/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps of the routing socket: addresses, links, routes and neighbours hold no stamps, counters or
 * random times of the host. Printed is every attribute's bytes.
 *: varies
 *: rootless
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../guest.h"

static char room[1 << 16];

static void print_all(const struct nlmsghdr *h)
{
	unsigned long sum = 5381;

	for (size_t i = 0; i < h->nlmsg_len; i++) {
		const unsigned char *byte = (const unsigned char *)h + i;

		sum = sum * 33 + *byte;
		if (i >= sizeof(*h))
			printf("%02x", *byte);
	}
	printf("\ntype %d, %u bytes, sum %lx\n", h->nlmsg_type, h->nlmsg_len, sum);
}

/* How the answer is read: recv, read, recvmsg in two pieces, recvmmsg. */
static ssize_t take(int s, int way)
{
	struct iovec v[2] = {{room, 100}, {room + 100, sizeof(room) - 100}};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = v, .msg_iovlen = 2}};

	switch (way % 4) {
	case 0:
		return recv(s, room, sizeof(room), 0);
	case 1:
		return read(s, room, sizeof(room));
	case 2:
		return recvmsg(s, &m.msg_hdr, 0);
	default:
		return recvmmsg(s, &m, 1, MSG_WAITFORONE, NULL) == 1 ? (ssize_t)m.msg_len : -1;
	}
}

static void dump(int type, int family, int way)
{
	struct {
		struct nlmsghdr h;
		struct rtgenmsg g;
		char fill[sizeof(struct ifinfomsg)];
	} q = {.h = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
		       .nlmsg_type = (unsigned short)type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		       .nlmsg_seq = 7},
		.g = {.rtgen_family = (unsigned char)family}};
	int s = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)), more = 1;

	printf("request %d of family %d\n", type, family);
	MUST(send(s, &q, q.h.nlmsg_len, 0));
	while (more) {
		long len = (long)MUST(take(s, way));

		for (struct nlmsghdr *h = (struct nlmsghdr *)room; NLMSG_OK(h, len);
			h = NLMSG_NEXT(h, len)) {
			print_all(h);
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				more = 0;
		}
	}
	close(s);
}

int main(void)
{
	static const int types[] = {RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETRULE,
		RTM_GETNEIGH, RTM_GETNEIGHTBL, RTM_GETQDISC};
	static const int families[] = {AF_UNSPEC, AF_INET, AF_INET6};
	int way = 0;

	/* Traffic, which would show in the counters. */
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++)
			dump(types[i], families[k], way++);
	for (int protocol = 1; protocol < 32; protocol++) {
		int s = socket(AF_NETLINK, SOCK_RAW, protocol);

		if (s >= 0)
			printf("protocol %d is there\n", protocol);
	}
	return 0;
}
