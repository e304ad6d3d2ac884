/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UDP: connected sockets filter, several messages at once, order, a queue that overflows drops.
 *: native
 *: long
 */
#include <sys/uio.h>

#include "../tcp.h"

int main(void)
{
	struct sockaddr_in a, b, c, from;
	socklen_t len = sizeof(from);
	int sa = bound(SOCK_DGRAM, &a), sb = bound(SOCK_DGRAM, &b), sc = bound(SOCK_DGRAM, &c),
	    count = 0;
	static char big[70000];
	char texts[5][10], room[100] = "";
	struct iovec v[5];
	struct mmsghdr m[5];

	MUST(connect(sa, (struct sockaddr *)&b, sizeof(b)));
	MUST(sendto(sc, "from c", 6, 0, (struct sockaddr *)&a, sizeof(a)));
	tell("filtered", recv(sa, room, 10, MSG_DONTWAIT));
	MUST(sendto(sb, "from b", 6, 0, (struct sockaddr *)&a, sizeof(a)));
	tell("let through", recvfrom(sa, room, 10, 0, (struct sockaddr *)&from, &len));
	printf("from b: %d\n", from.sin_port == b.sin_port);
	memset(m, 0, sizeof(m));
	for (int i = 0; i < 5; i++) {
		v[i] = (struct iovec){
			texts[i], (size_t)snprintf(texts[i], sizeof(texts[i]), "m%d", i)};
		m[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	}
	tell("sent", sendmmsg(sa, m, 5, 0));
	memset(texts, 0, sizeof(texts));
	tell("received", recvmmsg(sb, m, 5, MSG_WAITFORONE, NULL));
	for (int i = 0; i < 5; i++)
		printf("%u %s\n", m[i].msg_len, texts[i]);
	for (int i = 0; i < 10000; i++)
		MUST(send(sa, &i, sizeof(i), 0));
	for (int i, last = -1; recv(sb, &i, sizeof(i), MSG_DONTWAIT) > 0; last = i, count++)
		if (i != last + 1)
			puts("out of order");
	printf("some were dropped: %d\n", count > 50 && count < 10000);
	tell("too large", sendto(sb, big, sizeof(big), 0, (struct sockaddr *)&a, sizeof(a)));
	MUST(connect(sa, (struct sockaddr *)&(struct sockaddr){.sa_family = AF_UNSPEC},
		sizeof(struct sockaddr)));
	tell("not connected", send(sa, "x", 1, 0));
	return 0;
}
