/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FIONREAD, SIOCINQ and SIOCOUTQ of pipes, unix sockets, TCP and UDP; before and after reads.
 *: native
 *: long
 */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

static void look(const char *name, int s)
{
	int in = -1;

	if (ioctl(s, FIONREAD, &in) < 0)
		tell(name, -1);
	else
		printf("%s: %d\n", name, in);
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET, SOCK_STREAM, 0)),
	    s = MUST(socket(AF_INET, SOCK_STREAM, 0)), pair[2], out = -1, peer;
	char room[1000] = "";

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	MUST(ioctl(pair[0], SIOCOUTQ, &out));
	printf("nothing sent: %d\n", out);
	MUST(write(pair[0], room, 300));
	MUST(write(pair[0], room, 200));
	look("unix", pair[1]);
	MUST(read(pair[1], room, 100));
	look("unix", pair[1]);
	MUST(read(pair[1], room, 1000));
	MUST(ioctl(pair[0], SIOCOUTQ, &out));
	printf("all read: %d\n", out);
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	MUST(write(pair[0], room, 300));
	MUST(write(pair[0], room, 200));
	look("datagram", pair[1]);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	MUST(listen(listener, 5));
	look("listener", listener);
	MUST(connect(s, (struct sockaddr *)&a, len));
	peer = MUST(accept(listener, NULL, NULL));
	MUST(write(s, room, 1000));
	look("tcp", peer);
	MUST(read(peer, room, 999));
	look("tcp", peer);
	usleep(100000); /* all is acknowledged */
	MUST(ioctl(s, SIOCOUTQ, &out));
	printf("acknowledged: %d\n", out);
	s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(sendto(s, room, 10, 0, (struct sockaddr *)&a, len));
	look("udp", s);
	return 0;
}
