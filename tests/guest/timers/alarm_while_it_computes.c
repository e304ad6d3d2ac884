/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work until an alarm ends it, as benchmarks do: it would go on for ever, since computing takes no
 * time. --timers-after lets the alarm come, and the run says that it did.
 *: option --timers-after
 *: option 1s
 *: unenforced timer_forced
 *: exit 121
 *: out the alarm came
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t done;

static void on_alarm(int sig)
{
	(void)sig;
	done = 1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	unsigned x = 1;

	sigaction(SIGALRM, &action, NULL);
	alarm(3600);
	while (!done)
		x = x * 1103515245 + 12345;
	puts(x == 1 ? "no work was done" : "the alarm came");
	return 0;
}
