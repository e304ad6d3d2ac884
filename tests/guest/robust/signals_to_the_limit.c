/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queued signals until the limit: the kernel's EAGAIN, and each that was queued arrives in order.
 *: long
 *: out refused 11 after at least 1000
 *: out in order
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int next, wrong;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	wrong += info->si_value.sival_int != next++;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	union sigval value = {0};
	sigset_t set;

	sigaction(SIGRTMIN, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigqueue(getpid(), SIGRTMIN, value) == 0)
		value.sival_int++;
	printf("refused %d after %s 1000\n", errno,
		value.sival_int >= 1000 ? "at least" : "less than");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	puts(wrong || next != value.sival_int ? "not in order" : "in order");
	return 0;
}
