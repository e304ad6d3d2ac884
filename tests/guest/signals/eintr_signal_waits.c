/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task waits for others.
 *: long
 *: native
 */
#include <time.h>
#include <unistd.h>

#include "eintr.h"

int main(void)
{
	const struct timespec five = {5, 0};
	sigset_t none, other, alarm_alone, before;
	siginfo_t info;

	sigemptyset(&none);
	sigemptyset(&other);
	sigaddset(&other, SIGUSR1);
	sigemptyset(&alarm_alone);
	sigaddset(&alarm_alone, SIGALRM);
	EINTR_TRY("sigsuspend", NULL, sigsuspend(&none));
	EINTR_TRY("sigwaitinfo", NULL, sigwaitinfo(&other, &info));
	EINTR_TRY("sigtimedwait", NULL, sigtimedwait(&other, &info, &five));
	sigprocmask(SIG_BLOCK, &alarm_alone, &before);
	EINTR_TRY("sigsuspend that opens the mask", NULL, sigsuspend(&none));
	sigprocmask(SIG_BLOCK, NULL, &none);
	printf("SIGALRM is blocked again: %d\n", sigismember(&none, SIGALRM));
	EINTR_TRY("sigtimedwait under the mask", NULL,
		sigtimedwait(&other, &info, &(struct timespec){0, 70000000}));
	EINTR_TRY("sigwaitinfo for it", NULL, sigwaitinfo(&alarm_alone, &info) == SIGALRM ? 0 : -1);
	return 0;
}
