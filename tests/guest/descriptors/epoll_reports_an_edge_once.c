/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EPOLLET: one event for each arrival, none for what is still there.
 *: native
 *: long
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guest.h"

static int ep, fds[2];

static void look(const char *when)
{
	struct epoll_event e = {0};
	int n = MUST(epoll_wait(ep, &e, 1, 0));

	printf("%s: %d, events %x\n", when, n, e.events);
}

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
	char room[100];

	ep = MUST(epoll_create1(0));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &e));
	look("added");
	look("again");
	MUST(write(fds[1], "abc", 3));
	look("three bytes");
	look("still there");
	MUST(read(fds[0], room, 1));
	look("one is read");
	MUST(write(fds[1], "d", 1));
	look("one more");
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, fds[0], &e));
	look("modified");
	MUST(read(fds[0], room, sizeof(room)));
	look("empty");
	MUST(shutdown(fds[1], SHUT_WR));
	look("half closed");
	look("still so");
	close(fds[1]);
	look("closed");
	close(fds[0]);
	look("gone");
	return 0;
}
