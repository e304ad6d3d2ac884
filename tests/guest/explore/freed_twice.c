/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two threads find the flag unset and both free.
 *: long
 *: out freed 1 times
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static volatile int freed;
static atomic_int times;

static void *work(void *arg)
{
	if (!freed) {
		times++;
		freed = 1;
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("freed %d times\n", times);
	return times != 1;
}
