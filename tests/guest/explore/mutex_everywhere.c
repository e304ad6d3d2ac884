/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: every access is under the lock.
 *: option --sched-seed
 *: option 5
 *: rootless
 *: out 400 of 400
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int number;

static void *work(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		number = number + 1;
		pthread_mutex_unlock(&lock);
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
	printf("%d of 400\n", number);
	return number != 400;
}
