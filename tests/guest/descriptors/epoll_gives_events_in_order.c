/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events come in the order in which descriptors became ready, and take turns where fewer fit.
 *: native
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../guest.h"

enum { COUNT = 6 };

static int ep, fds[COUNT];

static void look(const char *when, int room)
{
	struct epoll_event e[COUNT];
	int n = MUST(epoll_wait(ep, e, room, 0));

	printf("%s:", when);
	for (int i = 0; i < n; i++)
		printf(" %u", e[i].data.u32);
	puts("");
}

int main(void)
{
	static const int order[COUNT] = {3, 1, 5, 0, 4, 2};

	ep = MUST(epoll_create1(0));
	for (int i = 0; i < COUNT; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = (unsigned)i};

		fds[i] = MUST(eventfd(0, EFD_NONBLOCK));
		MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &e));
	}
	look("nothing", COUNT);
	for (int i = 0; i < COUNT; i++)
		MUST(eventfd_write(fds[order[i]], 1));
	look("all", COUNT);
	for (int i = 0; i < COUNT; i++)
		look("two at a time", 2);
	for (int i = 0; i < COUNT; i += 2) {
		eventfd_t value;

		MUST(eventfd_read(fds[order[i]], &value));
	}
	look("half of them", COUNT);
	for (int i = 0; i < COUNT; i += 2)
		MUST(eventfd_write(fds[order[i]], 1));
	look("again all", COUNT);
	close(fds[3]);
	look("one closed", COUNT);
	return 0;
}
