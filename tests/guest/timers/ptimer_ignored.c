/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A periodic timer whose signal is ignored goes on unseen, and is told once somebody listens.
 *
 *: long
 *: native
 */
#include "say.h"

static volatile sig_atomic_t count;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	count = count + 1;
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec every = ispec(10 * MS, 10 * MS), its;
	timer_t timer;

	signal(SIGUSR1, SIG_IGN);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	pause_ms(255);
	timer_gettime(timer, &its);
	printf("goes on: %s\n",
		its.it_value.tv_nsec > 0 && its.it_value.tv_nsec <= 10 * MS ? "yes" : "no");
	handle(SIGUSR1, on_signal, 0);
	pause_ms(255);
	printf("told: %s\n", count > 2 ? "yes" : "no");
	return 0;
}
