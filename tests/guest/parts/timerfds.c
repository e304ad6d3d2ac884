/* SPDX-License-Identifier: Apache-2.0 */
/* timerfd: one-shot, intervals, absolute, through read, poll and epoll, set again, shared by fork.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec start;

static void say(const char *what, long result)
{
	const int error = errno;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s: %ld%s%s at %.3f\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerror(error) : "",
		(double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9);
}

static int set(int fd, int flags, double value, double interval)
{
	const struct itimerspec its = {
		{(time_t)interval, (long)((interval - (double)(time_t)interval) * 1e9)},
		{(time_t)value, (long)((value - (double)(time_t)value) * 1e9)}};

	return timerfd_settime(fd, flags, &its, NULL);
}

static void expirations(int fd, const char *what)
{
	uint64_t count = 0;
	const ssize_t n = read(fd, &count, sizeof(count));

	say(what, n < 0 ? -1 : (long)count);
}

static void show(int fd)
{
	struct itimerspec its;

	if (timerfd_gettime(fd, &its) < 0)
		printf("  gettime: %s\n", strerror(errno));
	else
		printf("  left %.3f interval %.3f\n",
			(double)its.it_value.tv_sec + (double)its.it_value.tv_nsec / 1e9,
			(double)its.it_interval.tv_sec + (double)its.it_interval.tv_nsec / 1e9);
}

int main(void)
{
	struct epoll_event got, want = {.events = EPOLLIN};
	struct timespec now;
	const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	const int wall = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	const int ep = epoll_create1(0);
	struct pollfd p = {fd, POLLIN, 0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	show(fd);
	say("set", set(fd, 0, 1.5, 0));
	show(fd);
	expirations(fd, "one-shot");
	show(fd);
	say("set", set(fd, 0, 1, 0.5));
	for (int i = 0; i < 3; i++)
		expirations(fd, "interval");
	sleep(2);
	expirations(fd, "missed some");
	say("poll", poll(&p, 1, 100));
	say("poll", poll(&p, 1, 1000));
	say("set again", set(fd, 0, 3, 0));
	say("poll forgot", poll(&p, 1, 0));
	sleep(1);
	show(fd);
	say("disarm", set(fd, 0, 0, 0));
	say("poll", poll(&p, 1, 5000));
	say("fast", set(fd, 0, 0x1p-20, 0x1p-20));
	sleep(100);
	expirations(fd, "very many");
	say("disarm", set(fd, 0, 0, 0));
	expirations(wall, "not armed");
	clock_gettime(CLOCK_REALTIME, &now);
	say("absolute", set(wall, TFD_TIMER_ABSTIME, (double)now.tv_sec + 10, 0));
	epoll_ctl(ep, EPOLL_CTL_ADD, wall, &want);
	say("epoll", epoll_wait(ep, &got, 1, 60000));
	expirations(wall, "absolute");
	expirations(wall, "once");
	say("in the past", set(wall, TFD_TIMER_ABSTIME, 1, 0));
	expirations(wall, "past");
	say("not a timer", set(ep, 0, 1, 0));
	say("bad clock", timerfd_create(77, 0));
	say("bad time", set(fd, 0, -5, 0));
	say("set", set(fd, 0, 2, 0));
	if (fork() == 0) {
		expirations(fd, "child");
		_exit(0);
	}
	wait(NULL);
	say("done", 0);
	return 0;
}
