/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeps that a handler ends tell what is left, unless they are absolute; SA_RESTART is no help.
 *
 *: native
 */
#include <sys/time.h>

#include "say.h"

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
}

static void ring_in(int ms)
{
	struct itimerval once = {{0, 0}, {0, ms * 1000}};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void show(const char *what, int result, const struct timespec *left)
{
	printf("%s: %s, left %s\n", what,
		result ? strerrorname_np(result > 0 ? result : errno) : "0",
		left->tv_sec == 77			 ? "untouched"
		: left->tv_sec == 9 && left->tv_nsec > 0 ? "9 s and some"
							 : "something else");
}

int main(void)
{
	struct timespec ten = {10, 0}, left = {77, 0}, until;

	handle(SIGALRM, on_alarm, SA_RESTART);
	ring_in(100);
	show("nanosleep", nanosleep(&ten, &left), &left);
	left.tv_sec = 77;
	ring_in(100);
	show("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, &left), &left);
	left.tv_sec = 77;
	ring_in(100);
	show("realtime", clock_nanosleep(CLOCK_REALTIME, 0, &ten, &left), &left);
	left.tv_sec = 77;
	until = spec(now_ns(CLOCK_MONOTONIC) + 10000LL * MS);
	ring_in(100);
	show("absolute", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, &left), &left);
	left.tv_sec = 77;
	ten = spec(MS);
	show("whole", nanosleep(&ten, &left), &left);
	/* In place: what is left is what remains to do. */
	ten = spec(300 * MS);
	ring_in(100);
	const int64_t start = now_ns(CLOCK_MONOTONIC);
	int rounds = 0;
	while (nanosleep(&ten, &ten))
		rounds++;
	printf("in %d pieces, %s\n", rounds + 1,
		now_ns(CLOCK_MONOTONIC) - start >= 300 * MS ? "whole" : "too short");
	return 0;
}
