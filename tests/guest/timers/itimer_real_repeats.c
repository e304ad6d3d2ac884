/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ITIMER_REAL comes again and again, sent by the kernel itself.
 *
 *: long
 *: native
 *: rootless
 */
#include <sys/time.h>

#include "say.h"

static volatile sig_atomic_t count;
static siginfo_t last;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	last = *info;
	count = count + 1;
}

int main(void)
{
	struct itimerval every = {{0, 5000}, {0, 20000}}, off = {{0, 0}, {0, 0}}, was;
	const int64_t start = now_ns(CLOCK_MONOTONIC);

	handle(SIGALRM, on_alarm, 0);
	say("set", setitimer(ITIMER_REAL, &every, NULL));
	while (count < 4)
		pause();
	const int64_t took = now_ns(CLOCK_MONOTONIC) - start;
	setitimer(ITIMER_REAL, &off, &was);
	printf("35 ms at least: %s\n", took >= 35 * MS ? "yes" : "no");
	printf("interval was %ld us, some of it left: %s\n", (long)was.it_interval.tv_usec,
		was.it_value.tv_usec > 0 && was.it_value.tv_usec <= 5000 ? "yes" : "no");
	printf("%s from %d\n", code_name(&last), (int)last.si_pid);
	getitimer(ITIMER_REAL, &was);
	printf("off: %ld %ld\n", (long)was.it_value.tv_usec, (long)was.it_interval.tv_usec);
	return 0;
}
