/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two threads add to a number with nothing around it. One switch between the
 * load and the store loses an addition.
 *: out 2 of 2
 */
#include <pthread.h>
#include <stdio.h>

static volatile int number;

static void *work(void *arg)
{
	int seen = number;

	number = seen + 1;
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
	printf("%d of 2\n", number);
	return number != 2;
}
