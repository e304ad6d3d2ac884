/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: the same in a loop, where a switch at any of many places does it.
 *: long
 *: out 400 of 400
 */
#include <pthread.h>
#include <stdio.h>

static volatile int number;

static void *work(void *arg)
{
	for (int i = 0; i < 200; i++)
		number = number + 1;
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
	printf("%d of 400\n", number);
	return number != 400;
}
