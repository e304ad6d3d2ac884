/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One timer by several descriptors: a duplicate, a child's, one that came through a socket, in an
 *epoll set, edge-triggered.
 *
 *: long
 *: native
 */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "say.h"

static int send_and_receive(int fd)
{
	int pair[2];
	char byte = 'x', room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (!c || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -1;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(pair[0], &m, 0) != 1 || recvmsg(pair[1], &m, 0) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	close(pair[0]);
	close(pair[1]);
	return fd;
}

int main(void)
{
	const int fd = timerfd_create(CLOCK_MONOTONIC, 0), other = send_and_receive(dup(fd));
	const int set = epoll_create1(0);
	struct epoll_event want = {.events = EPOLLIN | EPOLLET}, got;
	struct itimerspec its = ispec(20 * MS, 0);
	uint64_t n = 0;

	epoll_ctl(set, EPOLL_CTL_ADD, other, &want);
	say("set through the other", timerfd_settime(other, 0, &its, NULL));
	fflush(stdout);
	if (fork() == 0) {
		say("child reads", read(fd, &n, sizeof(n)));
		printf("ticks %lu\n", (unsigned long)n);
		its = ispec(20 * MS, 0);
		timerfd_settime(fd, 0, &its, NULL);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	close(fd);
	say("parent reads", read(other, &n, sizeof(n)));
	say("edge", epoll_wait(set, &got, 1, 0));
	say("no edge", epoll_wait(set, &got, 1, 0));
	timerfd_settime(other, 0, &its, NULL);
	say("next edge", epoll_wait(set, &got, 1, 1000));
	say("no edge, though unread", epoll_wait(set, &got, 1, 0));
	timerfd_settime(other, 0, &its, NULL);
	say("an edge, though the last was unread", epoll_wait(set, &got, 1, 1000));
	return 0;
}
