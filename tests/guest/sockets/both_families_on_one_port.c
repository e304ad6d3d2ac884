/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPv6: a socket for both families, one for IPv6 alone, mapped addresses, addresses in use.
 *: native
 *: long
 */
#include "../tcp.h"

int main(void)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6}, a, from;
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET6, SOCK_STREAM, 0)), s, t, on = 1;
	char text[64];

	MUST(bind(listener, (struct sockaddr *)&any, sizeof(any)));
	MUST(listen(listener, 5));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	four.sin_port = a.sin6_port;
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	tell("by IPv4", connect(s, (struct sockaddr *)&four, sizeof(four)));
	len = sizeof(from);
	t = MUST(accept(listener, (struct sockaddr *)&from, &len));
	puts(inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof(text)));
	close(t);
	s = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	a.sin6_addr = in6addr_loopback;
	tell("by IPv6", connect(s, (struct sockaddr *)&a, sizeof(a)));
	t = MUST(accept(listener, (struct sockaddr *)&from, &len));
	puts(inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof(text)));
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	tell("in use", bind(s, (struct sockaddr *)&four, sizeof(four)));
	close(listener);
	s = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	MUST(setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)));
	MUST(bind(s, (struct sockaddr *)&any, sizeof(any)));
	len = sizeof(a);
	MUST(getsockname(s, (struct sockaddr *)&a, &len));
	four.sin_port = a.sin6_port;
	tell("beside it",
		bind(MUST(socket(AF_INET, SOCK_DGRAM, 0)), (struct sockaddr *)&four, sizeof(four)));
	tell("not for IPv4", connect(s, (struct sockaddr *)&four, sizeof(four)));
	return 0;
}
