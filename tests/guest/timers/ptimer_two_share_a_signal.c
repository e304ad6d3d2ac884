/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two timers with one standard signal, which others would merge: both are told.
 *
 *: native
 */
#include "say.h"

static int values[8];
static volatile sig_atomic_t count;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (count < 8)
		values[count] = info->si_value.sival_int;
	count = count + 1;
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	timer_t timers[3];

	handle(SIGUSR2, on_signal, 0);
	block(SIGUSR2, SIG_BLOCK);
	for (int i = 0; i < 3; i++) {
		struct itimerspec its = ispec((5 - i) * 50LL * MS, 0);

		event.sigev_value.sival_int = i;
		timer_create(CLOCK_MONOTONIC, &event, &timers[i]);
		timer_settime(timers[i], 0, &its, NULL);
	}
	pause_ms(500);
	block(SIGUSR2, SIG_UNBLOCK);
	printf("%d signals: %d %d %d\n", (int)count, values[0], values[1], values[2]);
	return 0;
}
