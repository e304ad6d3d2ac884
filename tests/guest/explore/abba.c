/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: two threads take two locks in opposite orders.
 *: out 2
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int number;

static void *work(void *arg)
{
	pthread_mutex_t **locks = arg;

	pthread_mutex_lock(locks[0]);
	pthread_mutex_lock(locks[1]);
	number++;
	pthread_mutex_unlock(locks[1]);
	pthread_mutex_unlock(locks[0]);
	return NULL;
}

int main(void)
{
	pthread_mutex_t *one[] = {&a, &b}, *other[] = {&b, &a};
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, work, one) ||
		pthread_create(&threads[1], NULL, work, other))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", number);
	return 0;
}
