/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand threads are there at once; each takes a lock that the main thread holds, and then a
 * robust one. The limit of processes is told to be more than its 512 for that.
 *: long
 *: option --pids
 *: option 1200
 *: out 1000 threads, 2000 turns
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 1000 };

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust;
static int turns;

static void *both(void *unused)
{
	pthread_mutex_lock(&plain);
	turns++;
	pthread_mutex_unlock(&plain);
	pthread_mutex_lock(&robust);
	turns++;
	pthread_mutex_unlock(&robust);
	return unused;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_mutexattr_t robust_attr;
	pthread_attr_t attr;
	int count = 0;

	pthread_mutexattr_init(&robust_attr);
	pthread_mutexattr_setrobust(&robust_attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &robust_attr);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_mutex_lock(&plain);
	while (count < THREADS && pthread_create(&threads[count], &attr, both, NULL) == 0)
		count++;
	usleep(200000); /* until they wait */
	pthread_mutex_unlock(&plain);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%d threads, %d turns\n", count, turns);
	return 0;
}
