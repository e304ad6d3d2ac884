/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram to a port without a socket: the error comes with the next call of a connected socket,
 * and to the error queue of one that wants it.
 *: native
 *: long
 */
#include <time.h>

#include <linux/errqueue.h>
#include <poll.h>
#include <sys/uio.h>

#include "../tcp.h"

int main(void)
{
	struct sockaddr_in nobody;
	int gone = bound(SOCK_DGRAM, &nobody), s = MUST(socket(AF_INET, SOCK_DGRAM, 0)), on = 1,
	    error = 0;
	_Alignas(struct cmsghdr) char control[512];
	char room[100];
	struct iovec v = {room, sizeof(room)};
	struct msghdr m = {.msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct pollfd p = {.events = POLLIN | POLLOUT};
	socklen_t len = sizeof(error);

	close(gone);
	tell("not connected", sendto(s, "x", 1, 0, (struct sockaddr *)&nobody, sizeof(nobody)));
	tell("nothing is told", recv(s, room, 1, MSG_DONTWAIT));
	MUST(connect(s, (struct sockaddr *)&nobody, sizeof(nobody)));
	tell("send", send(s, "x", 1, 0));
	tell("refused", recv(s, room, 1, 0));
	tell("send", send(s, "x", 1, 0));
	tell("refused", send(s, "x", 1, 0));
	tell("and again", send(s, "x", 1, 0));
	p.fd = s;
	MUST(poll(&p, 1, 0));
	MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len));
	printf("poll %x, error %s\n", p.revents, strerror(error));
	tell("cleared", recv(s, room, 1, MSG_DONTWAIT));
	MUST(setsockopt(s, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)));
	MUST(send(s, "abc", 3, 0));
	tell("from the queue", recvmsg(s, &m, MSG_ERRQUEUE));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct sock_extended_err e;

		memcpy(&e, CMSG_DATA(c), sizeof(e));
		printf("level %d type %d: %s, origin %d, icmp %d %d\n", c->cmsg_level, c->cmsg_type,
			strerror((int)e.ee_errno), e.ee_origin, e.ee_type, e.ee_code);
	}
	tell("the queue is empty", recvmsg(s, &m, MSG_ERRQUEUE));
	return 0;
}
