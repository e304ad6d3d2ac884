/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One signal for many expirations: the overrun counts them, and reads of the timer count on.
 *
 *: long
 *: native
 */
#include "say.h"

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec every = ispec(MS, MS), off = ispec(0, 0), was;
	struct timespec none = {0, 0};
	siginfo_t info;
	sigset_t set;
	timer_t timer;

	block(SIGRTMIN, SIG_BLOCK);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	timer_settime(timer, 0, &every, NULL);
	pause_ms(60);
	timer_gettime(timer, &was);
	printf("left: %s\n", was.it_value.tv_nsec > 0 && was.it_value.tv_nsec <= MS ? "yes" : "no");
	sigtimedwait(&set, &info, &none);
	printf("%s, overrun %s, the same: %s\n", code_name(&info),
		info.si_overrun >= 55 ? "many" : "few",
		info.si_overrun == timer_getoverrun(timer) ? "yes" : "no");
	every = ispec(900 * MS, 0);
	timer_settime(timer, 0, &every, &was);
	printf("was %ld\n", was.it_interval.tv_nsec);
	timer_settime(timer, 0, &off, &was);
	printf("was %s, interval %ld\n", was.it_value.tv_nsec > 300 * MS ? "most of it" : "less",
		was.it_interval.tv_nsec);
	timer_gettime(timer, &was);
	printf("off %ld, overruns %d\n", was.it_value.tv_nsec, timer_getoverrun(timer));
	return 0;
}
