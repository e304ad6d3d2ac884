/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects that fail, blocking and not: refused, already connected, to ourselves, without a route,
 * after a failure again.
 *: native
 *: long
 */
#include <poll.h>

#include "../tcp.h"

static int try(int s, const char *address, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};

	inet_pton(AF_INET, address, &a.sin_addr);
	return connect(s, (struct sockaddr *)&a, sizeof(a));
}

static void error_of(int s)
{
	struct pollfd p = {.fd = s, .events = POLLIN | POLLOUT};
	int error = 0;
	socklen_t len = sizeof(error);

	MUST(poll(&p, 1, 0));
	MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len));
	printf("poll %x, error %s\n", p.revents, strerror(error));
}

int main(void)
{
	struct sockaddr_in a;
	int nobody = bound(SOCK_STREAM, &a), s = MUST(socket(AF_INET, SOCK_STREAM, 0)), pair[2];
	char c;

	tell("refused", connect(s, (struct sockaddr *)&a, sizeof(a)));
	tell("again", connect(s, (struct sockaddr *)&a, sizeof(a)));
	tell("write", send(s, "x", 1, MSG_NOSIGNAL));
	error_of(s);
	MUST(listen(nobody, 5));
	tell("now", connect(s, (struct sockaddr *)&a, sizeof(a)));
	tell("connected already", connect(s, (struct sockaddr *)&a, sizeof(a)));
	close(nobody);
	tell("reset by a close", read(s, &c, 1));
	s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	tell("not blocking", connect(s, (struct sockaddr *)&a, sizeof(a)));
	error_of(s);
	tell("port 0", try(MUST(socket(AF_INET, SOCK_STREAM, 0)), "127.0.0.1", 0));
	tell("broadcast", try(MUST(socket(AF_INET, SOCK_STREAM, 0)), "255.255.255.255", 80));
	tell("family", connect(s, (struct sockaddr *)&(struct sockaddr){.sa_family = 99},
			       sizeof(struct sockaddr)));
	tell("short", connect(s, (struct sockaddr *)&a, 4));
	connected(pair);
	tell("a pair", try(pair[0], "127.0.0.1", 80));
	tell("another of the loopback net",
		try(MUST(socket(AF_INET, SOCK_STREAM, 0)), "127.77.0.5", 1));
	return 0;
}
