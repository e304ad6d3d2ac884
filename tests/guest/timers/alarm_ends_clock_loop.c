/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that only asks for times - by plain calls, not through the vDSO - ends with the alarm.
 *
 *: native
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>

#include "say.h"

static volatile sig_atomic_t rung;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	rung = 1;
}

static void again(void)
{
	struct itimerval once = {{0, 0}, {0, 20000}};

	rung = 0;
	setitimer(ITIMER_REAL, &once, NULL);
}

int main(void)
{
	struct rusage usage;
	struct timespec ts;
	struct tms tms;

	handle(SIGALRM, on_alarm, 0);
	for (again(); !rung;)
		clock();
	puts("clock");
	for (again(); !rung;)
		getrusage(RUSAGE_SELF, &usage);
	puts("getrusage");
	for (again(); !rung;)
		times(&tms);
	puts("times");
	for (again(); !rung;)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	puts("clock_gettime");
	return 0;
}
