/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A periodic ITIMER_REAL rests until its signal is taken, so a blocked microsecond floods nothing.
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

static void show(const char *when)
{
	struct itimerval it;

	getitimer(ITIMER_REAL, &it);
	printf("%s: %s, interval %ld, pending %d, handled %d\n", when,
		it.it_value.tv_usec ? "runs" : "rests", (long)it.it_interval.tv_usec,
		is_pending(SIGALRM), (int)count);
}

int main(void)
{
	struct itimerval every = {{0, 1}, {0, 1}};
	struct itimerval off = {{0, 0}, {0, 0}};

	handle(SIGALRM, on_alarm, 0);
	block(SIGALRM, SIG_BLOCK);
	setitimer(ITIMER_REAL, &every, NULL);
	pause_ms(200);
	show("blocked");
	every.it_interval.tv_usec = every.it_value.tv_usec = 200000;
	sigset_t none;
	sigemptyset(&none);
	sigsuspend(&none);
	setitimer(ITIMER_REAL, &every, NULL);
	printf("handled: %s\n", count > 0 ? "yes" : "no");
	while (sigsuspend(&none), count < 3)
		;
	show("taken");
	setitimer(ITIMER_REAL, &off, NULL);
	return 0;
}
