/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiling timer neither cuts a sleep short nor wakes a reader, however short it is.
 *
 *: native
 *: rootless
 */
#include <poll.h>
#include <sys/time.h>

#include "say.h"

static volatile sig_atomic_t count;

static void on_prof(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	count = count + 1;
}

int main(void)
{
	struct itimerval every = {{0, 50000}, {0, 50000}};
	struct timespec half = {0, 500 * MS};
	int ends[2];

	handle(SIGPROF, on_prof, 0);
	setitimer(ITIMER_PROF, &every, NULL);
	say("sleep", nanosleep(&half, NULL));
	if (pipe(ends))
		return 1;
	struct pollfd p = {ends[0], POLLIN, 0};
	say("poll", poll(&p, 1, 500));
	printf("signals: %s\n", count > 5 ? "a flood" : "few");
	return 0;
}
