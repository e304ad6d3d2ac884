/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread makes calls that never wait until another one tells it to stop: the other gets its turn.
 *: native
 *: out told to stop
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

static volatile int stop;

static void *teller(void *unused)
{
	stop = 1;
	return unused;
}

int main(void)
{
	struct stat st;
	pthread_t thread;

	pthread_create(&thread, NULL, teller, NULL);
	while (!stop)
		if (stat("/", &st) < 0)
			return 1;
	pthread_join(thread, NULL);
	puts("told to stop");
	return 0;
}
