/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SO_TIMESTAMP and SO_TIMESTAMPNS: the logical instant at which a message was sent, however much
 * later it is read.
 *: pinned
 *: rootless
 *: out udp 1700000000.000000000 of 1700000000
 *: out udp 1700000005.000000000 of 1700000065
 *: out udp 1700000065.000000000 of 1700000065
 *: out udp 1700000065.000000000 of 1700000065
 *: out unix 1700000065.000000 of 1700000066
 *: out 0, control 0
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../guest.h"

static void take(const char *name, int s)
{
	_Alignas(struct cmsghdr) char control[200];
	char room[100];
	struct iovec v = {room, sizeof(room)};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};

	MUST(recvmsg(s, &m, 0));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct timespec ts;
		struct timeval tv;

		if (c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			printf("%s %ld.%09ld of %ld\n", name, (long)ts.tv_sec, ts.tv_nsec,
				(long)time(NULL));
		} else if (c->cmsg_type == SO_TIMESTAMP) {
			memcpy(&tv, CMSG_DATA(c), sizeof(tv));
			printf("%s %ld.%06ld of %ld\n", name, (long)tv.tv_sec, (long)tv.tv_usec,
				(long)time(NULL));
		}
	}
	if (m.msg_controllen == 0)
		printf("0, control 0\n");
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0)), pair[2], on = 1, off = 0;

	MUST(setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)));
	MUST(bind(s, (struct sockaddr *)&a, sizeof(a)));
	MUST(getsockname(s, (struct sockaddr *)&a, &len));
	MUST(sendto(s, "a", 1, 0, (struct sockaddr *)&a, len));
	take("udp", s);
	sleep(5);
	MUST(sendto(s, "b", 1, 0, (struct sockaddr *)&a, len));
	sleep(60);
	MUST(sendto(s, "c", 1, 0, (struct sockaddr *)&a, len));
	MUST(sendto(s, "d", 1, 0, (struct sockaddr *)&a, len));
	take("udp", s);
	take("udp", s);
	take("udp", s);
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	MUST(setsockopt(pair[0], SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)));
	MUST(send(pair[1], "e", 1, 0));
	sleep(1);
	take("unix", pair[0]);
	MUST(setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &off, sizeof(off)));
	MUST(sendto(s, "f", 1, 0, (struct sockaddr *)&a, len));
	take("udp", s);
	return 0;
}
