/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP_INFO, TCP_CONGESTION: state and options are real, what was measured in the host's time is not
 * told.
 *: varies
 *: long
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

static void look(const char *name, int s)
{
	unsigned char info[512] = {0};
	socklen_t len = sizeof(info);

	tell(name, getsockopt(s, IPPROTO_TCP, TCP_INFO, info, &len));
	printf("%u bytes:", len);
	for (socklen_t i = 0; i < len; i++)
		printf(" %x", info[i]);
	puts("");
}

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int listener = MUST(socket(AF_INET, SOCK_STREAM, 0)),
	    s = MUST(socket(AF_INET, SOCK_STREAM, 0)), peer;
	static char room[100000];
	char name[16] = "";

	look("new", s);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 5));
	MUST(getsockname(listener, (struct sockaddr *)&a, &len));
	MUST(connect(s, (struct sockaddr *)&a, len));
	look("listening", listener);
	peer = MUST(accept(listener, NULL, NULL));
	look("connected", s);
	MUST(write(s, room, sizeof(room)));
	look("written", s);
	look("to be read", peer);
	MUST(shutdown(s, SHUT_WR));
	look("half closed", s);
	look("its peer", peer);
	close(peer);
	look("closed", s);
	len = sizeof(name);
	tell("congestion", getsockopt(s, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	puts(name);
	return 0;
}
