/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EPOLLONESHOT: after its event an entry is silent until it is modified; two threads that share it
 * never get it both.
 *: native
 *: long
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../guest.h"

static int ep, pipes[4][2], taken[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
	struct epoll_event e;
	char c;

	for (;;) {
		MUST(epoll_wait(ep, &e, 1, -1));
		MUST(read(pipes[e.data.u32][0], &c, 1));
		pthread_mutex_lock(&lock);
		taken[e.data.u32]++;
		pthread_mutex_unlock(&lock);
		if (c == 'q')
			return unused;
		e.events = EPOLLIN | EPOLLONESHOT;
		MUST(epoll_ctl(ep, EPOLL_CTL_MOD, pipes[e.data.u32][0], &e));
	}
}

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT};
	pthread_t threads[2];
	char c;

	ep = MUST(epoll_create1(0));
	for (int i = 0; i < 4; i++) {
		MUST(pipe(pipes[i]));
		e.data.u32 = (unsigned)i;
		MUST(epoll_ctl(ep, EPOLL_CTL_ADD, pipes[i][0], &e));
	}
	MUST(write(pipes[0][1], "ab", 2));
	tell("first", epoll_wait(ep, &e, 1, 0));
	tell("disarmed", epoll_wait(ep, &e, 1, 0));
	MUST(read(pipes[0][0], &c, 1));
	e = (struct epoll_event){.events = EPOLLIN | EPOLLONESHOT};
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, pipes[0][0], &e));
	tell("armed", epoll_wait(ep, &e, 1, 0));
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, pipes[0][0], &e));
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 400; i++)
		MUST(write(pipes[i % 4][1], "x", 1));
	MUST(write(pipes[0][1], "q", 1));
	MUST(write(pipes[1][1], "q", 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* What the two that quit first left behind is read here. */
	for (int i = 0; i < 4; i++) {
		close(pipes[i][1]);
		while (read(pipes[i][0], &c, 1) == 1)
			taken[i]++;
		printf("pipe %d: %d\n", i, taken[i]);
	}
	return 0;
}
