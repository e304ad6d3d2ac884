/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown of either half, of TCP and unix streams: reads end, writes fail, what was sent arrives.
 *: native
 *: long
 */
#include <poll.h>
#include <signal.h>

#include "../tcp.h"

static void look(const char *name, int s)
{
	struct pollfd p = {.fd = s, .events = POLLIN | POLLOUT | POLLRDHUP};

	MUST(poll(&p, 1, 0));
	printf("%s: %x\n", name, p.revents);
}

static void halves(const char *name, int s[2])
{
	char room[20] = "";

	puts(name);
	MUST(write(s[0], "before", 6));
	tell("write half", shutdown(s[0], SHUT_WR));
	look("it", s[0]);
	look("its peer", s[1]);
	tell("write", write(s[0], "x", 1));
	tell("read", read(s[1], room, sizeof(room)));
	tell("end", read(s[1], room, sizeof(room)));
	MUST(write(s[1], "back", 4));
	tell("the other way", read(s[0], room, sizeof(room)));
	tell("read half", shutdown(s[0], SHUT_RD));
	tell("read", read(s[0], room, sizeof(room)));
	look("both halves", s[0]);
	tell("again", shutdown(s[0], SHUT_RDWR));
	tell("what way", shutdown(s[0], 7));
	close(s[0]);
	look("closed", s[1]);
	close(s[1]);
}

int main(void)
{
	int s[2];

	signal(SIGPIPE, SIG_IGN);
	connected(s);
	halves("tcp", s);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	halves("unix", s);
	tell("not connected", shutdown(MUST(socket(AF_INET, SOCK_STREAM, 0)), SHUT_RDWR));
	return 0;
}
