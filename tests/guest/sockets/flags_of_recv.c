/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_DONTWAIT over TCP and UDP, with time-outs and low marks.
 *: native
 */
#include <pthread.h>
#include <sys/time.h>

#include "../tcp.h"

static int s[2];

static void *in_parts(void *unused)
{
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		MUST(send(s[0], "0123456789", 10, 0));
	}
	usleep(20000);
	MUST(shutdown(s[0], SHUT_WR));
	return unused;
}

int main(void)
{
	struct sockaddr_in a;
	struct timeval limit = {0, 300000};
	char room[100] = "";
	pthread_t thread;
	int u = bound(SOCK_DGRAM, &a), low = 15;

	connected(s);
	tell("nothing", recv(s[1], room, 10, MSG_DONTWAIT));
	MUST(send(s[0], "hello", 5, 0));
	tell("peek", recv(s[1], room, 3, MSG_PEEK));
	tell("peek more", recv(s[1], room, 30, MSG_PEEK | MSG_DONTWAIT));
	tell("thrown away", recv(s[1], NULL, 2, MSG_TRUNC));
	tell("the rest", recv(s[1], room, 30, 0));
	printf("%.3s\n", room);
	MUST(setsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	MUST(send(s[0], "abc", 3, 0));
	tell("time is up", recv(s[1], room, 10, MSG_WAITALL));
	tell("nothing came", recv(s[1], room, 10, 0));
	limit = (struct timeval){0};
	MUST(setsockopt(s[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	pthread_create(&thread, NULL, in_parts, NULL);
	tell("all", recv(s[1], room, 25, MSG_WAITALL));
	MUST(setsockopt(s[1], SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low)));
	tell("fifteen at least", recv(s[1], room, 15, 0));
	tell("and the end", recv(s[1], room, 100, MSG_WAITALL));
	pthread_join(thread, NULL);
	tell("peek at the end", recv(s[1], room, 100, MSG_PEEK));
	MUST(sendto(u, "a datagram", 10, 0, (struct sockaddr *)&a, sizeof(a)));
	tell("cut", recv(u, room, 4, MSG_PEEK | MSG_TRUNC));
	tell("cut without saying", recv(u, room, 4, 0));
	tell("nothing left", recv(u, room, 4, MSG_DONTWAIT));
	MUST(sendto(u, "", 0, 0, (struct sockaddr *)&a, sizeof(a)));
	tell("empty", recv(u, room, 4, MSG_WAITALL));
	return 0;
}
