/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand threads at once, each waiting for the one before.
 *: option --pids
 *: option 2000
 *: native
 *: long
 *: out 1000
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, sum;

static void *work(void *arg)
{
	int me = *(int *)arg;

	pthread_mutex_lock(&lock);
	while (turn != me)
		pthread_cond_wait(&changed, &lock);
	turn++;
	sum++;
	if (turn % 50 == 0 || turn > THREADS - 10)
		pthread_cond_broadcast(&changed);
	else
		pthread_cond_signal(&changed);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	static pthread_t threads[THREADS];
	static int ids[THREADS];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < THREADS; i++) {
		ids[i] = i;
		if (pthread_create(&threads[i], &attr, work, &ids[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return 0;
}
