/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the kernel would choose at random among sockets, and what it would hold back or give
 * up after a while of the host's time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MEMBERS = 3, CALLERS = 12, FLOW_INFO = 11 /* IPV6_FLOWINFO */ };
static const int one = 1;

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port)};
}

static void set(int s, int level, int name)
{
	if (setsockopt(s, level, name, &one, sizeof(one)) < 0)
		printf("option %d: %s\n", name, strerror(errno));
}

/* Which of several sockets at one port gets what comes. */
static void print_members(int type, uint16_t port)
{
	struct sockaddr_in a = loopback(port);
	int members[MEMBERS];

	for (int i = 0; i < MEMBERS; i++) {
		members[i] = socket(AF_INET, type | SOCK_NONBLOCK, 0);
		set(members[i], SOL_SOCKET, SO_REUSEPORT);
		if (bind(members[i], (struct sockaddr *)&a, sizeof(a)) < 0)
			perror("bind");
		if (type == SOCK_STREAM && listen(members[i], CALLERS) < 0)
			perror("listen");
	}
	printf("members ");
	for (int i = 0; i < CALLERS; i++) {
		int caller = socket(AF_INET, type, 0);
		char byte = 0;

		if (connect(caller, (struct sockaddr *)&a, sizeof(a)) < 0)
			perror("connect");
		if (send(caller, &byte, 1, 0) != 1)
			perror("send");
		for (int j = 0; j < MEMBERS; j++)
			if (type == SOCK_STREAM ? accept(members[j], NULL, NULL) >= 0
						: recv(members[j], &byte, 1, 0) == 1)
				printf("%d", j);
	}
	printf("\n");
}

static void print_names(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0held"};
	const socklen_t len = offsetof(struct sockaddr_un, sun_path) + 5;
	int server = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (bind(server, (struct sockaddr *)&a, len) < 0)
		perror("bind");
	for (int sends = 0; sends < 2; sends++) {
		int s = socket(AF_UNIX, SOCK_DGRAM, 0);
		struct sockaddr_un name = {0};
		socklen_t size = sizeof(name);

		set(s, SOL_SOCKET, SO_PASSCRED);
		if (sends ? sendto(s, "x", 1, 0, (struct sockaddr *)&a, len) != 1
			  : connect(s, (struct sockaddr *)&a, len) < 0)
			perror("unix");
		if (getsockname(s, (struct sockaddr *)&name, &size) == 0)
			printf("name %.5s\n", name.sun_path + 1);
	}
}

static void print_flow_labels(void)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
		.sin6_port = htons(7003)};
	int server = socket(AF_INET6, SOCK_DGRAM, 0), s = socket(AF_INET6, SOCK_DGRAM, 0);
	char byte, control[64];
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};

	if (bind(server, (struct sockaddr *)&a, sizeof(a)) < 0)
		perror("bind");
	set(server, IPPROTO_IPV6, FLOW_INFO);
	if (sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)) != 1 ||
		recvmsg(server, &m, 0) != 1)
		perror("ipv6");
	printf("flow label: %s\n", CMSG_FIRSTHDR(&m) ? "some" : "none");
}

/* How often an answer is asked for in vain. */
static void print_waits(const char *what, int s, int peer, int flags)
{
	char byte;
	int tries = 0;

	if (send(s, "x", 1, flags) != 1)
		perror("send");
	while (recv(peer, &byte, 1, MSG_DONTWAIT) < 0 && tries < 200000)
		tries++;
	printf("%s: %d tries\n", what, tries);
}

static void print_stream(void)
{
	struct sockaddr_in a = loopback(7004);
	int listener = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0), peer;
	static char chunk[65536];
	int tries = 0;

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 1) < 0 ||
		connect(s, (struct sockaddr *)&a, sizeof(a)) < 0)
		perror("stream");
	peer = accept(listener, NULL, NULL);
	print_waits("more", s, peer, MSG_MORE);
	set(s, IPPROTO_TCP, TCP_CORK);
	print_waits("cork", s, peer, 0);
	set(s, IPPROTO_TCP, TCP_USER_TIMEOUT); /* of a millisecond */
	while (send(s, chunk, sizeof(chunk), MSG_DONTWAIT) > 0)
		continue;
	while (tries < 40000 && send(s, chunk, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
		tries++;
	printf("full: %d tries, %s\n", tries, strerror(errno));
}

int main(void)
{
	print_members(SOCK_DGRAM, 7001);
	print_members(SOCK_STREAM, 7002);
	print_names();
	print_flow_labels();
	print_stream();
	return 0;
}
