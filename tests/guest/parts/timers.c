/* SPDX-License-Identifier: Apache-2.0 */
/* Waits an hour in every modelled way and prints how much the clock moved each time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { HOUR = 3600 };

static struct timespec start;
static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms = alarms + 1;
}

static void told(const char *way)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	const int64_t passed =
		(now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec;

	printf("%s %lld.%09lld alarms %d\n", way, (long long)(passed / 1000000000),
		(long long)(passed % 1000000000), (int)alarms);
	start = now;
}

static void sleeps(void)
{
	struct timespec until, hour = {HOUR, 0};

	nanosleep(&hour, NULL);
	told("nanosleep");
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += HOUR;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	told("clock_nanosleep absolute");
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HOUR;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
	told("clock_nanosleep absolute, realtime");
	usleep(1);
	told("usleep(1)");
}

static void timeouts(void)
{
	struct timeval tv = {HOUR, 0};
	struct timespec ts = {HOUR, 0};
	int epoll = epoll_create1(EPOLL_CLOEXEC), ends[2];
	struct epoll_event event;
	fd_set set;

	if (pipe(ends))
		return;
	struct pollfd pfd = {.fd = ends[0], .events = POLLIN};

	poll(&pfd, 1, HOUR * 1000);
	told("poll");
	ppoll(&pfd, 1, &ts, NULL);
	told("ppoll");
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, &tv);
	told("select");
	pselect(0, NULL, NULL, NULL, &ts, NULL);
	told("pselect");
	epoll_wait(epoll, &event, 1, HOUR * 1000);
	told("epoll_wait");
	close(ends[0]);
	close(ends[1]);
	close(epoll);
}

static void alarms_of_old(void)
{
	struct itimerval every = {{HOUR, 0}, {HOUR, 0}}, off = {{0, 0}, {0, 0}};

	alarm(HOUR);
	pause();
	told("alarm");
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 3; i++)
		pause();
	setitimer(ITIMER_REAL, &off, NULL);
	told("setitimer, three times");
	/* A sleep that a timer cuts short. */
	struct timespec two = {2 * HOUR, 0}, left = {0, 0};
	alarm(HOUR);
	const int result = nanosleep(&two, &left);
	printf("interrupted: %s, left %ld.%09ld\n", result ? strerror(errno) : "no", left.tv_sec,
		left.tv_nsec);
	told("half a sleep");
}

static void signals(void)
{
	struct timespec hour = {HOUR, 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	const int result = sigtimedwait(&set, NULL, &hour);
	printf("sigtimedwait: %s\n", result < 0 ? strerror(errno) : "a signal");
	told("sigtimedwait");
}

static void descriptors(void)
{
	struct itimerspec every = {{HOUR, 0}, {HOUR, 0}};
	uint64_t times = 0;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	timerfd_settime(fd, 0, &every, NULL);
	for (int i = 0; i < 2; i++)
		if (read(fd, &times, sizeof(times)) == sizeof(times))
			printf("timerfd: %llu\n", (unsigned long long)times);
	told("timerfd, twice");
	close(fd);

	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec once = {{0, 0}, {HOUR, 0}};

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return;
	timer_settime(timer, 0, &once, NULL);
	pause();
	told("timer_create");
	timer_delete(timer);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (argc > 1 && strcmp(argv[1], "descriptors") == 0) {
		descriptors();
		return 0;
	}
	sleeps();
	timeouts();
	alarms_of_old();
	signals();
	return 0;
}
