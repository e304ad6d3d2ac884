/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unix datagrams and seqpackets: bounds, MSG_TRUNC, empty ones, a full queue that is waited for,
 * end of file, refused and too large.
 *: native
 *: long
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../guest.h"

static int pair[2];

static void *drain(void *unused)
{
	char room[10];
	int count = 0;

	usleep(100000);
	while (recv(pair[1], room, sizeof(room), 0) > 0)
		count++;
	printf("%d received\n", count);
	return unused;
}

static void both(const char *name, int type)
{
	static char big[1 << 20];
	char room[10] = "";
	pthread_t thread;

	puts(name);
	MUST(socketpair(AF_UNIX, type, 0, pair));
	tell("send", send(pair[0], "one", 3, 0));
	tell("send", send(pair[0], "", 0, 0));
	tell("send", send(pair[0], "a long one", 10, 0));
	tell("peek", recv(pair[1], room, 2, MSG_PEEK | MSG_TRUNC));
	tell("recv", recv(pair[1], room, sizeof(room), 0));
	tell("empty", recv(pair[1], room, sizeof(room), 0));
	tell("cut", recv(pair[1], room, 4, 0));
	tell("nothing", recv(pair[1], room, 4, MSG_DONTWAIT));
	tell("too large", send(pair[0], big, sizeof(big), 0));
	pthread_create(&thread, NULL, drain, NULL);
	for (int i = 0; i < 1000; i++)
		MUST(send(pair[0], "message", 7, 0));
	MUST(shutdown(pair[0], SHUT_WR));
	if (type == SOCK_DGRAM)
		MUST(shutdown(pair[1], SHUT_RD));
	pthread_join(thread, NULL);
	tell("after a shutdown", send(pair[0], "x", 1, MSG_NOSIGNAL));
	close(pair[1]);
	tell("closed", send(pair[0], "x", 1, MSG_NOSIGNAL));
	close(pair[0]);
}

int main(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "nobody"};
	int s;

	both("seqpacket", SOCK_SEQPACKET);
	s = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	tell("no such name", sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	tell("not connected", send(s, "x", 1, 0));
	MUST(bind(s, (struct sockaddr *)&a, sizeof(a)));
	close(s);
	s = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	tell("nobody there", sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	tell("of another kind", connect(s, (struct sockaddr *)&a, sizeof(a)));
	return 0;
}
