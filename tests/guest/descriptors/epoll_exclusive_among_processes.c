/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EPOLLEXCLUSIVE: workers that wait for one listener with epolls of their own; each connection is
 * served once, and a mask that exclusive entries may not have is refused.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest.h"

enum { WORKERS = 3, CONNECTIONS = 30 };

static void serve(int listener, int *served)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	int ep = MUST(epoll_create1(0));
	char c;

	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e));
	for (;;) {
		int peer;

		MUST(epoll_wait(ep, &e, 1, -1));
		peer = accept(listener, NULL, NULL);
		if (peer < 0)
			continue; /* another was faster */
		__atomic_add_fetch(served, 1, __ATOMIC_SEQ_CST);
		MUST(read(peer, &c, 1));
		MUST(write(peer, &c, 1));
		close(peer);
		if (c == 'q')
			_exit(0);
	}
}

int main(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "listener"};
	struct epoll_event e = {.events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT};
	int *served = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listener = MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
	int ep = MUST(epoll_create1(0)), answers = 0;

	unlink(a.sun_path);
	MUST(bind(listener, (struct sockaddr *)&a, sizeof(a)));
	MUST(listen(listener, 64));
	tell("exclusive and once", epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e));
	for (int i = 0; i < WORKERS; i++)
		if (MUST(fork()) == 0)
			serve(listener, served);
	for (int i = 0; i < CONNECTIONS + WORKERS; i++) {
		int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
		char c = i < CONNECTIONS ? 'x' : 'q';

		MUST(connect(s, (struct sockaddr *)&a, sizeof(a)));
		MUST(write(s, &c, 1));
		answers += (int)MUST(read(s, &c, 1));
		close(s);
	}
	for (int i = 0; i < WORKERS; i++)
		MUST(wait(NULL));
	printf("%d served, %d answers\n", *served, answers);
	unlink(a.sun_path);
	return 0;
}
