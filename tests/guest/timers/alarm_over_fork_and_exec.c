/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm: what it answers, that a child has none of its own, and that exec keeps it.
 *
 *: long
 *: native
 */
#include <sys/time.h>
#include <sys/wait.h>

#include "say.h"

int main(int argc, char **argv)
{
	struct itimerval it = {{0, 0}, {7, 400000}};

	if (argc > 1) {
		printf("after exec: %u\n", alarm(0));
		return 0;
	}
	printf("first: %u\n", alarm(10));
	printf("again: %u\n", alarm(20));
	setitimer(ITIMER_REAL, &it, NULL);
	printf("rounded: %u\n", alarm(0));
	it.it_value.tv_usec = 900000;
	setitimer(ITIMER_REAL, &it, NULL);
	printf("rounded: %u\n", alarm(0));
	it = (struct itimerval){{0, 0}, {0, 900}};
	setitimer(ITIMER_REAL, &it, NULL);
	printf("never 0: %u\n", alarm(0));
	alarm(30);
	fflush(stdout);
	if (fork() == 0) {
		printf("child: %u\n", alarm(0));
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	it.it_interval.tv_usec = 1000000;
	say("too many microseconds", setitimer(ITIMER_REAL, &it, NULL));
	it.it_interval.tv_usec = 0;
	it.it_value.tv_sec = -1;
	say("negative", setitimer(ITIMER_REAL, &it, NULL));
	it.it_value.tv_sec = 1;
	say("no such timer", setitimer(7, &it, NULL));
	say("no such timer", getitimer(7, &it));
	fflush(stdout);
	execl("/proc/self/exe", argv[0], "again", NULL);
	return 1;
}
