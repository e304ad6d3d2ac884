/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An epoll descriptor in another, in poll and in select; rings and depth are refused.
 *: native
 *: long
 */
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include "../guest.h"

static int inner, outer, event;

static void look(const char *when)
{
	struct epoll_event e = {0};
	struct pollfd p = {.fd = outer, .events = POLLIN};
	struct timeval none = {0};
	fd_set set;
	int n = MUST(epoll_wait(outer, &e, 1, 0));

	FD_ZERO(&set);
	FD_SET(outer, &set);
	printf("%s: %d %x, poll %d %x, select %d\n", when, n, e.events, MUST(poll(&p, 1, 0)),
		p.revents, MUST(select(outer + 1, &set, NULL, NULL, &none)));
}

static void *ring(void *unused)
{
	usleep(50000);
	MUST(eventfd_write(event, 7));
	return unused;
}

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	eventfd_t value;
	pthread_t thread;
	int chain[8];

	inner = MUST(epoll_create1(0));
	outer = MUST(epoll_create1(0));
	event = MUST(eventfd(0, 0));
	MUST(epoll_ctl(inner, EPOLL_CTL_ADD, event, &e));
	MUST(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &e));
	look("nothing");
	MUST(eventfd_write(event, 1));
	look("written");
	MUST(eventfd_read(event, &value));
	look("read");
	pthread_create(&thread, NULL, ring, NULL);
	tell("waited", epoll_wait(outer, &e, 1, -1));
	tell("inner", epoll_wait(inner, &e, 1, -1));
	pthread_join(thread, NULL);
	MUST(eventfd_read(event, &value));
	printf("value %lu\n", (unsigned long)value);
	tell("a ring", epoll_ctl(inner, EPOLL_CTL_ADD, outer, &e));
	tell("itself", epoll_ctl(inner, EPOLL_CTL_ADD, inner, &e));
	tell("twice", epoll_ctl(inner, EPOLL_CTL_ADD, event, &e));
	tell("absent", epoll_ctl(outer, EPOLL_CTL_DEL, event, &e));
	for (int i = 0; i < 8; i++) {
		chain[i] = MUST(epoll_create1(0));
		if (i)
			tell("link", epoll_ctl(chain[i], EPOLL_CTL_ADD, chain[i - 1], &e));
	}
	return 0;
}
