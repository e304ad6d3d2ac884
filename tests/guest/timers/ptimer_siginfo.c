/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A POSIX timer's signal says which timer it is, and brings the value given.
 *
 *: native
 *: rootless
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
	const int signals[] = {SIGUSR1, SIGALRM, SIGRTMIN + 3};
	const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI};
	struct itimerspec once = ispec(5 * MS, 0);
	int told = 0;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 4; k++) {
			struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
				.sigev_signo = signals[i],
				.sigev_value = {.sival_int = 1000 + k}};
			timer_t timer;

			handle(signals[i], on_signal, 0);
			if (timer_create(clocks[k], &event, &timer)) {
				say("timer_create", -1);
				return 1;
			}
			timer_settime(timer, 0, &once, NULL);
			await(&count, ++told);
			printf("timer %ld: signal %d %s id %d value %d overrun %d, overruns %d\n",
				(long)(intptr_t)timer, last.si_signo, code_name(&last),
				last.si_timerid, last.si_value.sival_int, last.si_overrun,
				timer_getoverrun(timer));
			say("delete", timer_delete(timer));
		}
	timer_t plain;
	say("by default", timer_create(CLOCK_MONOTONIC, NULL, &plain));
	timer_settime(plain, 0, &once, NULL);
	await(&count, ++told);
	printf("signal %d, value is the id: %s\n", last.si_signo,
		last.si_value.sival_int == (int)(intptr_t)plain ? "yes" : "no");
	return 0;
}
