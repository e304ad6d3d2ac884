/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag that only a handler sets: the alarm comes, though nothing else runs.
 *: native
 *: out handled
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_alarm(int sig)
{
	(void)sig;
	handled = 1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	while (!handled)
		;
	puts("handled");
	return 0;
}
