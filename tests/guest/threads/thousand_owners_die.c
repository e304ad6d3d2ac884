/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand threads wait for a robust mutex, and each ends with it: the next one is told that its
 * owner died, and so on to the last.
 *: native
 *: long
 *: option --pids
 *: option 1200
 *: out 1000 threads, 999 found a dead owner
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 1000 };

static pthread_mutex_t lock;
static int dead;

static void *ends_locked(void *unused)
{
	if (pthread_mutex_lock(&lock) != 0) {
		dead++;
		pthread_mutex_consistent(&lock);
	}
	return unused;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_mutexattr_t robust;
	pthread_attr_t attr;
	int count = 0;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &robust);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_mutex_lock(&lock);
	while (count < THREADS && pthread_create(&threads[count], &attr, ends_locked, NULL) == 0)
		count++;
	usleep(200000); /* until they wait */
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%d threads, %d found a dead owner\n", count, dead);
	return 0;
}
