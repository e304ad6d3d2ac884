/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: the child's signal finds the parent before it has set what the handler needs.
 *: long
 *: out 5
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int needed = -1, seen = -2;

static void handler(int sig)
{
	(void)sig;
	seen = needed;
}

int main(void)
{
	pid_t child;

	signal(SIGUSR1, handler);
	child = fork();
	if (child == 0) {
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	needed = 5;
	while (waitpid(child, NULL, 0) < 0)
		;
	printf("%d\n", seen);
	return seen != 5;
}
