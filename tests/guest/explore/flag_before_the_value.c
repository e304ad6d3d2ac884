/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: the writer says that the value is there before it is.
 *: long
 *: out 7
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static volatile int value, there;

static void *work(void *arg)
{
	there = 1;
	value = 7;
	return arg;
}

int main(void)
{
	pthread_t thread;
	int seen;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	while (!there)
		sched_yield();
	seen = value;
	pthread_join(thread, NULL);
	printf("%d\n", seen);
	return seen != 7;
}
