/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink sockets are named as they are bound, or first send: the first of a process by its pid,
 * the others by a number that the kernel draws.
 *: varies
 *: rootless
 */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

static void show(const char *what, int s)
{
	struct sockaddr_nl a;
	socklen_t len = sizeof(a);

	MUST(getsockname(s, (struct sockaddr *)&a, &len));
	printf("%s %d%s\n", what, (int)a.nl_pid, a.nl_pid == (unsigned)getpid() ? ", its pid" : "");
}

static int bound(unsigned name)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_pid = name};
	int s = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));

	MUST(bind(s, (struct sockaddr *)&a, sizeof(a)));
	return s;
}

static int unnamed_datagram(void)
{
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));

	if (send(s, "x", 1, 0) < 0)
		printf("a datagram without an address: %s\n", strerror(errno));
	return s;
}

static int sending(int by_write)
{
	struct {
		struct nlmsghdr head;
		struct rtgenmsg body;
	} ask = {{sizeof(ask), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
	int s = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));

	MUST(by_write ? write(s, &ask, sizeof(ask)) : send(s, &ask, sizeof(ask), 0));
	return s;
}

int main(void)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int first = bound(0);

	show("first", first);
	show("second", bound(0));
	show("third", bound(0));
	show("by sending", sending(0));
	show("by writing", sending(1));
	show("chosen", bound(77777));
	close(first);
	MUST(getsockname(unnamed_datagram(), (struct sockaddr *)&a, &len));
	printf("and yet its port is %d\n", ntohs(a.sin_port));
	show("after the first was closed", bound(0));
	fflush(stdout);
	if (MUST(fork()) == 0) {
		show("of a child", bound(0));
		return 0;
	}
	wait(NULL);
	return 0;
}
