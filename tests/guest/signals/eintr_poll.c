/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a call waits for one of several descriptors.
 *: native
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "eintr.h"

static int empty[2], many;
static struct epoll_event event;

static int select_it(struct timeval *limit)
{
	fd_set set;
	int r;

	FD_ZERO(&set);
	FD_SET(empty[0], &set);
	r = select(empty[0] + 1, &set, NULL, NULL, limit);
	return r;
}

static int pselect_it(const sigset_t *mask)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(empty[0], &set);
	return pselect(empty[0] + 1, &set, NULL, NULL, NULL, mask);
}

int main(void)
{
	sigset_t none, alarm_alone;
	struct pollfd p;

	sigemptyset(&none);
	sigemptyset(&alarm_alone);
	sigaddset(&alarm_alone, SIGALRM);
	many = epoll_create1(0);
	if (pipe(empty) < 0)
		return 1;
	p = (struct pollfd){.fd = empty[0], .events = POLLIN};
	epoll_ctl(many, EPOLL_CTL_ADD, empty[0], &(struct epoll_event){.events = EPOLLIN});
	EINTR_TRY("poll", NULL, poll(&p, 1, -1));
	EINTR_TRY("poll with a limit", NULL, poll(&p, 1, 5000));
	EINTR_TRY("poll of nothing", NULL, poll(NULL, 0, 5000));
	EINTR_TRY("ppoll", NULL, ppoll(&p, 1, &(struct timespec){5, 0}, &none));
	EINTR_TRY("select", NULL, select_it(NULL));
	EINTR_TRY("select with a limit", NULL, select_it(&(struct timeval){5, 0}));
	EINTR_TRY("pselect", NULL, pselect_it(&none));
	EINTR_TRY("epoll_wait", NULL, epoll_wait(many, &event, 1, -1));
	EINTR_TRY("epoll_wait with a limit", NULL, epoll_wait(many, &event, 1, 5000));
	EINTR_TRY("epoll_pwait", NULL, epoll_pwait(many, &event, 1, -1, &none));
	sigprocmask(SIG_BLOCK, &alarm_alone, NULL);
	EINTR_TRY("ppoll that opens the mask", NULL, ppoll(&p, 1, NULL, &none));
	EINTR_TRY("pselect that opens the mask", NULL, pselect_it(&none));
	EINTR_TRY("epoll_pwait that opens the mask", NULL, epoll_pwait(many, &event, 1, -1, &none));
	EINTR_TRY("poll under the mask", NULL, poll(&p, 1, 70));
	sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
	EINTR_TRY("ppoll that closes the mask", NULL,
		ppoll(&p, 1, &(struct timespec){0, 70000000}, &alarm_alone));
	return 0;
}
