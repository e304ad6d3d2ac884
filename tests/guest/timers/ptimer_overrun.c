/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overrun of a timer whose signal waited: exact here, and the same in the siginfo, in
 * timer_getoverrun, through sigwaitinfo and a handler.
 *
 *: row timers
 *: pinned
 *: out wait: overrun 100 100
 *: out left 1000000 interval 1000000
 *: out handler: overrun 249 249
 *: out next: overrun 0 0
 */
#include "say.h"

static siginfo_t last;
static volatile sig_atomic_t count;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	last = *info;
	count = count + 1;
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec every = ispec(MS, MS), its;
	sigset_t set;
	timer_t timer;

	handle(SIGUSR1, on_signal, 0);
	block(SIGUSR1, SIG_BLOCK);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	timer_settime(timer, 0, &every, NULL);
	pause_ms(101);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwaitinfo(&set, &last);
	printf("wait: overrun %d %d\n", last.si_overrun, timer_getoverrun(timer));
	timer_gettime(timer, &its);
	printf("left %ld interval %ld\n", its.it_value.tv_nsec, its.it_interval.tv_nsec);
	pause_ms(250);
	block(SIGUSR1, SIG_UNBLOCK);
	printf("handler: overrun %d %d\n", last.si_overrun, timer_getoverrun(timer));
	pause();
	printf("next: overrun %d %d\n", last.si_overrun, timer_getoverrun(timer));
	return 0;
}
