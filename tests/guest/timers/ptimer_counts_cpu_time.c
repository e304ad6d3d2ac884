/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers of CPU clocks: of the process, of the thread, of another thread by its clock's number.
 *
 *: long
 *: native
 */
#include <pthread.h>

#include "say.h"

static volatile sig_atomic_t count, stop;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_TIMER)
		count = count + 1;
}

static void until(const char *name, clockid_t clock, int flags)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec its = ispec((flags ? now_ns(clock) : 0) + 10 * MS, 0);
	const int64_t start = now_ns(clock);
	timer_t timer;

	count = 0;
	say(name, timer_create(clock, &event, &timer));
	timer_settime(timer, flags, &its, NULL);
	while (!count)
		now_ns(CLOCK_THREAD_CPUTIME_ID);
	printf("10 ms passed: %s\n", now_ns(clock) - start >= 9 * MS ? "yes" : "no");
	timer_delete(timer);
}

static void *spin(void *unused)
{
	while (!stop)
		now_ns(CLOCK_THREAD_CPUTIME_ID);
	return unused;
}

int main(void)
{
	clockid_t clock;
	pthread_t thread;

	handle(SIGUSR1, on_signal, 0);
	until("process", CLOCK_PROCESS_CPUTIME_ID, 0);
	until("process, absolute", CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME);
	until("thread", CLOCK_THREAD_CPUTIME_ID, 0);
	clock_getcpuclockid(getpid(), &clock);
	until("process by its number", clock, 0);
	pthread_create(&thread, NULL, spin, NULL);
	pthread_getcpuclockid(thread, &clock);
	until("another thread", clock, 0);
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
