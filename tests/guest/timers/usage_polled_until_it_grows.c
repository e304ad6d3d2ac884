/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work until a limit of CPU time is seen in getrusage, or in times, or on the CPU clock: each asks
 * for the time, so a timer that is armed comes due.
 *: native
 *: out getrusage
 *: out times
 *: out clock
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static double by_usage(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)ru.ru_utime.tv_sec + (double)ru.ru_utime.tv_usec / 1e6 +
	       (double)ru.ru_stime.tv_sec + (double)ru.ru_stime.tv_usec / 1e6;
}

static double by_times(void)
{
	struct tms tms;

	times(&tms);
	return (double)(tms.tms_utime + tms.tms_stime) / (double)sysconf(_SC_CLK_TCK);
}

static double by_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void work(const char *name, double (*now)(void))
{
	/* Its signal is ignored: it only makes the logical clock move. */
	struct itimerval it = {.it_value = {0, 20000}};
	double end = now() + 0.02;

	setitimer(ITIMER_PROF, &it, NULL);
	while (now() < end)
		;
	puts(name);
}

int main(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGPROF, &ignore, NULL);
	work("getrusage", by_usage);
	work("times", by_times);
	work("clock", by_clock);
	return 0;
}
