/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody but a sleeper could end the wait: the clock jumps, an hour in no time.
 *: pinned
 *: out after 3600 s
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int flag;

static void *sleep_long(void *unused)
{
	const struct timespec hour = {3600, 0};

	nanosleep(&hour, NULL);
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	struct timespec before, after;
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &before);
	pthread_create(&thread, NULL, sleep_long, NULL);
	while (!atomic_load(&flag))
		;
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("after %ld s\n", (long)(after.tv_sec - before.tv_sec));
	pthread_join(thread, NULL);
	return 0;
}
