/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_COOKIE and the CPU that took a packet in: the same in every run, one cookie a socket.
 *: varies
 *: rootless
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

#define SO_NETNS_COOKIE_ 71

static void look(const char *name, int s)
{
	uint64_t cookie = 0, of_net = 0;
	socklen_t len = sizeof(cookie);
	int cpu = -2;

	int answers[3];

	answers[0] = getsockopt(s, SOL_SOCKET, SO_COOKIE, &cookie, &len);
	len = sizeof(cpu);
	answers[1] = getsockopt(s, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len);
	len = sizeof(of_net);
	answers[2] = getsockopt(s, SOL_SOCKET, SO_NETNS_COOKIE_, &of_net, &len);
	printf("%s: %d %lu, cpu %d %d, net %d %lu\n", name, answers[0], (unsigned long)cookie,
		answers[1], cpu, answers[2], (unsigned long)of_net);
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET, SOCK_STREAM, 0)),
	    s = MUST(socket(AF_INET, SOCK_STREAM, 0)), peer;
	char c;

	look("listener", listener);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 5));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	MUST(connect(s, (struct sockaddr *)&a, len));
	peer = MUST(accept(listener, NULL, NULL));
	MUST(write(s, "x", 1));
	MUST(read(peer, &c, 1));
	look("peer", peer);
	look("connected", s);
	look("listener", listener);
	look("peer", dup(peer));
	close(s);
	look("unix", MUST(socket(AF_UNIX, SOCK_DGRAM, 0)));
	look("udp", MUST(socket(AF_INET6, SOCK_DGRAM, 0)));
	tell("too short", getsockopt(peer, SOL_SOCKET, SO_COOKIE, &c, &(socklen_t){1}));
	return 0;
}
