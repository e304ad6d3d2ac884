/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Absolute times on every clock: in the future, now, and long ago with a period.
 *
 *: long
 *: native
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

static void try_clock(const char *name, clockid_t clock)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct itimerspec its = ispec(now_ns(clock) + 10 * MS, 0);
	timer_t timer;

	if (timer_create(clock, &event, &timer))
		return;
	count = 0;
	timer_settime(timer, TIMER_ABSTIME, &its, NULL);
	await(&count, 1);
	printf("%s: reached %s", name,
		now_ns(clock) >= its.it_value.tv_sec * 1000000000LL + its.it_value.tv_nsec
			? "in time"
			: "too early");
	its = ispec(1, 0);
	timer_settime(timer, TIMER_ABSTIME, &its, NULL);
	pause_ms(5);
	printf(", the past %d", (int)count);
	its = ispec(1, 10000LL * MS);
	timer_settime(timer, TIMER_ABSTIME, &its, NULL);
	pause_ms(5);
	printf(", overrun since then %s\n",
		last.si_overrun == timer_getoverrun(timer) && last.si_overrun > 5 ? "counted"
										  : "lost");
	timer_delete(timer);
}

int main(void)
{
	handle(SIGRTMIN, on_signal, 0);
	try_clock("realtime", CLOCK_REALTIME);
	try_clock("monotonic", CLOCK_MONOTONIC);
	try_clock("boottime", CLOCK_BOOTTIME);
	try_clock("tai", CLOCK_TAI);
	return 0;
}
