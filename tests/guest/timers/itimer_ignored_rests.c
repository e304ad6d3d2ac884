/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A periodic ITIMER_REAL whose signal was ignored once never comes again.
 *
 *: long
 *: native
 */
#include <sys/time.h>

#include "say.h"

static volatile sig_atomic_t count;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	count = count + 1;
}

int main(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}}, it;

	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &every, NULL);
	pause_ms(30);
	handle(SIGALRM, on_alarm, 0);
	pause_ms(30);
	getitimer(ITIMER_REAL, &it);
	printf("handled %d, left %ld, interval %ld\n", (int)count, (long)it.it_value.tv_usec,
		(long)it.it_interval.tv_usec);
	return 0;
}
