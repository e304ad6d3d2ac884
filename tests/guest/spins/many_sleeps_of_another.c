/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One waits without a call while another sleeps 300 times: what the waiter reads has not
 * changed in between, so that it is not even run.
 *: native
 *: out 300
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int flag;
static int naps;

static void *nap(void *unused)
{
	const struct timespec ms = {0, 1000000};

	for (; naps < 300; naps++)
		nanosleep(&ms, NULL);
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, nap, NULL);
	while (!atomic_load(&flag))
		;
	printf("%d\n", naps);
	pthread_join(thread, NULL);
	return 0;
}
