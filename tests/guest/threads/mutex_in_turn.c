/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads add to one number under a mutex: none of the additions is lost.
 *: native
 *: out 4000
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		if (i % 100 == 0)
			sched_yield();
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return 0;
}
