/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: the additions are atomic.
 *: option --sched-seed
 *: option 9
 *: long
 *: out 400 of 400
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int number;

static void *work(void *arg)
{
	for (int i = 0; i < 200; i++)
		number++;
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
