/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal that a timer has queued is not delivered once the timer was deleted, or set anew; what
 * it queues in its new setting is. So it is in kernels from 6.13 on.
 *: out deleted: 0
 *: out set anew: 0, then 1
 *: out off: 0
 *: out another's own: 1
 *: out waited for: 14
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t count;

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

static void block(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(how, &set, NULL);
}

static int take(int sig)
{
	count = 0;
	block(SIG_UNBLOCK, sig);
	block(SIG_BLOCK, sig);
	return count;
}

static void sleep_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000};

	nanosleep(&ts, NULL);
}

static void set(timer_t id, long ms)
{
	timer_settime(id, 0, &(struct itimerspec){.it_value = {.tv_nsec = ms * 1000000}}, NULL);
}

static timer_t make(int sig)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig};
	timer_t id;

	timer_create(CLOCK_MONOTONIC, &e, &id);
	return id;
}

/* The alarm's signal too is among those that it waits for. */
static int wait_for_either(void)
{
	siginfo_t info;
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGALRM);
	sigprocmask(SIG_BLOCK, &both, NULL);
	sigwaitinfo(&both, &info);
	return info.si_signo;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	int sig = SIGRTMIN + 1;
	timer_t id;

	sigaction(sig, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	block(SIG_BLOCK, sig);
	block(SIG_BLOCK, SIGUSR1);
	id = make(sig);
	set(id, 1);
	sleep_ms(20);
	timer_delete(id);
	printf("deleted: %d\n", take(sig));
	id = make(SIGUSR1);
	set(id, 1);
	sleep_ms(20);
	set(id, 400);
	printf("set anew: %d, ", take(SIGUSR1));
	sleep_ms(500);
	printf("then %d\n", take(SIGUSR1));
	set(id, 1);
	sleep_ms(20);
	set(id, 0);
	printf("off: %d\n", take(SIGUSR1));
	timer_delete(id);
	raise(SIGUSR1);
	printf("another's own: %d\n", take(SIGUSR1));
	id = make(SIGUSR1);
	set(id, 1);
	sleep_ms(20);
	timer_delete(id);
	alarm(1);
	printf("waited for: %d\n", wait_for_either());
	return 0;
}
