/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time as clocks, clock, times, getrusage, wait4 and /proc/self/stat tell it: one figure, and
 *of the children what was waited for.
 *
 *: row clock
 *: pinned
 *: out start: clock 0.000 0.000 times 0 0 usage 0.000 0.000 stat 0 0
 *: out slept: clock 2.500 2.500 times 250 0 usage 2.500 0.000 stat 250 0
 *: out not waited for: clock 5.500 5.500 times 550 0 usage 5.500 0.000 stat 550 0
 *: out wait4 told 2.000
 *: out waited for: clock 5.500 5.500 times 550 200 usage 5.500 2.000 stat 550 200
 *: out waitid: clock 6.500 6.500 times 650 400 usage 6.500 4.000 stat 650 400
 *: out threads: own 1.000, process 7.500
 */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>

#include "say.h"

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void show(const char *when)
{
	struct rusage self, children;
	struct tms tms;
	unsigned long user = 0, children_user = 0;
	FILE *f = fopen("/proc/self/stat", "r");

	if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %*u %lu",
			  &user, &children_user) != 2)
		puts("no stat");
	if (f)
		fclose(f);
	times(&tms);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%s: clock %.3f %.3f times %ld %ld usage %.3f %.3f stat %lu %lu\n", when,
		(double)clock() / CLOCKS_PER_SEC, (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9,
		(long)tms.tms_utime, (long)tms.tms_cutime, seconds(self.ru_utime),
		seconds(children.ru_utime), user, children_user);
	fflush(stdout);
}

static void *in_thread(void *unused)
{
	struct rusage own, all;

	pause_ms(1000);
	getrusage(RUSAGE_THREAD, &own);
	getrusage(RUSAGE_SELF, &all);
	printf("threads: own %.3f, process %.3f\n", seconds(own.ru_utime), seconds(all.ru_utime));
	return unused;
}

int main(void)
{
	struct rusage usage;
	siginfo_t info;
	pthread_t thread;
	int status;

	show("start");
	/* Natively it is not waited for. */
	if (time(NULL) != 1700000000)
		return 0;
	pause_ms(2500);
	show("slept");
	const pid_t child = fork();
	if (child == 0) {
		pause_ms(2000);
		_exit(0);
	}
	pause_ms(3000);
	show("not waited for");
	if (wait4(child, &status, 0, &usage) == child)
		printf("wait4 told %.3f\n", seconds(usage.ru_utime));
	show("waited for");
	/* A child that waits for its own child brings that child's time along. */
	if (fork() == 0) {
		if (fork() == 0) {
			pause_ms(1000);
			_exit(0);
		}
		pause_ms(500);
		wait(NULL);
		_exit(0);
	}
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	waitid(P_ALL, 0, &info, WEXITED);
	show("waitid");
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}
