/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and fair under every seed: one spins with sched_yield until the other has done its part.
 *: option --sched-seed
 *: option 17
 *: out 1000
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static volatile int done, number;

static void *work(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		number = i + 1;
		sched_yield();
	}
	done = 1;
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	while (!done)
		sched_yield();
	pthread_join(thread, NULL);
	printf("%d\n", number);
	return 0;
}
