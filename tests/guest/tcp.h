/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP or UDP socket on the loopback device, and two that are connected. */
#ifndef TCP_H
#define TCP_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"

/* Bound to a port that the kernel chose: told in *ret. */
static inline int bound(int type, struct sockaddr_in *ret)
{
	socklen_t len = sizeof(*ret);
	int s = MUST(socket(AF_INET, type, 0));

	*ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	MUST(bind(s, (struct sockaddr *)ret, sizeof(*ret)));
	MUST(getsockname(s, (struct sockaddr *)ret, &len));
	return s;
}

static inline int connected_to(const struct sockaddr_in *a)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));

	MUST(connect(s, (const struct sockaddr *)a, sizeof(*a)));
	return s;
}

/* s[0] connected, s[1] was accepted. */
static inline void connected(int s[2])
{
	struct sockaddr_in a;
	int listener = bound(SOCK_STREAM, &a);

	MUST(listen(listener, 5));
	s[0] = connected_to(&a);
	s[1] = MUST(accept(listener, NULL, NULL));
	close(listener);
}

#endif
