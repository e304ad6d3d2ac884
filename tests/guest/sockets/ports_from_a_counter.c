/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that the kernel would draw at random: of bind, of listen without one, of connect and of a
 * datagram, over both families, and again after some were closed.
 *: varies
 *: rootless
 *: out bind 32768
 *: out bind 32769
 *: out datagram 32770
 *: out listen 32771
 *: out connect 32772
 *: out from 32772
 *: out bind of six 32773
 *: out closed, bind 32774
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

static int port_of(int s)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);

	MUST(getsockname(s, (struct sockaddr *)&a, &len));
	return ntohs(((struct sockaddr_in *)&a)->sin_port); /* at the same place in both */
}

static int bound(int domain, int type)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int s = MUST(socket(domain, type, 0));

	if (domain == AF_INET)
		MUST(bind(s, (struct sockaddr *)&four, sizeof(four)));
	else
		MUST(bind(s, (struct sockaddr *)&six, sizeof(six)));
	return s;
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int first = bound(AF_INET, SOCK_STREAM), s = 0, listener = 0, peer = 0;

	printf("bind %d\n", port_of(first));
	printf("bind %d\n", port_of(bound(AF_INET, SOCK_DGRAM)));
	s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	a.sin_port = htons(9);
	MUST(sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	printf("datagram %d\n", port_of(s));
	listener = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(listen(listener, 1));
	printf("listen %d\n", port_of(listener));
	a.sin_port = htons((uint16_t)port_of(listener));
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(s, (struct sockaddr *)&a, sizeof(a)));
	printf("connect %d\n", port_of(s));
	peer = MUST(accept(listener, (struct sockaddr *)&a, &len));
	printf("from %d\n", ntohs(a.sin_port));
	printf("bind of six %d\n", port_of(bound(AF_INET6, SOCK_STREAM)));
	close(first);
	close(peer);
	printf("closed, bind %d\n", port_of(bound(AF_INET, SOCK_STREAM)));
	return 0;
}
