/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many POSIX timers as RLIMIT_SIGPENDING of the contract says, whoever of the run has them.
 *
 *: long
 *: pinned
 *: out 1024 in parent and child: EAGAIN
 *: out the child is gone: 0
 *: out 1 more: EAGAIN
 */
#include <sys/wait.h>

#include "say.h"

static int make(int most)
{
	timer_t timer;
	int made = 0;

	while (made < most && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0)
		made++;
	return made;
}

int main(void)
{
	int made = make(1000), status;
	timer_t timer;

	fflush(stdout);
	if (fork() == 0)
		_exit(make(30));
	wait(&status);
	made += WEXITSTATUS(status);
	printf("%d in parent and child: %s\n", made, made < 1030 ? "EAGAIN" : "no limit");
	say("the child is gone", timer_create(CLOCK_MONOTONIC, NULL, &timer));
	make(22);
	made = make(2);
	printf("%d more: %s\n", made, make(1) ? "no limit" : "EAGAIN");
	return 0;
}
