/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ITIMER_VIRTUAL and ITIMER_PROF end loops that look at the CPU clock, again and again.
 *
 *: long
 *: native
 */
#include <sys/time.h>

#include "say.h"

static volatile sig_atomic_t virtual_count, prof_count;
static siginfo_t last;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	last = *info;
	if (sig == SIGVTALRM)
		virtual_count = virtual_count + 1;
	else
		prof_count = prof_count + 1;
}

int main(void)
{
	struct itimerval every = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}}, was;

	handle(SIGVTALRM, on_signal, 0);
	handle(SIGPROF, on_signal, 0);
	say("virtual", setitimer(ITIMER_VIRTUAL, &every, NULL));
	while (virtual_count < 3)
		clock();
	say("off", setitimer(ITIMER_VIRTUAL, &off, &was));
	printf("%s from %d, interval %ld\n", code_name(&last), (int)last.si_pid,
		(long)was.it_interval.tv_usec);
	say("prof", setitimer(ITIMER_PROF, &every, NULL));
	while (prof_count < 3)
		clock();
	getitimer(ITIMER_PROF, &was);
	printf("some left: %s\n", was.it_value.tv_usec > 0 ? "yes" : "no");
	say("off", setitimer(ITIMER_PROF, &off, NULL));
	getitimer(ITIMER_PROF, &was);
	printf("none left: %s\n", was.it_value.tv_usec == 0 ? "yes" : "no");
	return 0;
}
