/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutex with priority inheritance: an unlock hands it to who came first, it finds its own
 * deadlock, and a time-out leaves it alone.
 *: native
 *: out trylock while held: 16
 *: out timed out: 110
 *: out order: 0 1 2
 *: out locked twice: 35
 *: out not the owner: 1
 *: out free in the end: 0
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock;
static int order[3], count, names[3] = {0, 1, 2};

static void *locker(void *arg)
{
	pthread_mutex_lock(&lock);
	order[count++] = *(int *)arg;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *others(void *unused)
{
	struct timespec limit;

	printf("trylock while held: %d\n", pthread_mutex_trylock(&lock));
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec = limit.tv_nsec / 2;
	printf("timed out: %d\n", pthread_mutex_timedlock(&lock, &limit));
	return unused;
}

static void *stranger(void *unused)
{
	printf("not the owner: %d\n", pthread_mutex_unlock(&lock));
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, function, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t threads[3];

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
		pthread_mutex_init(&lock, &attr))
		return 1;
	pthread_mutex_lock(&lock);
	run(others);
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, locker, &names[i]);
		usleep(20000);
	}
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("order: %d %d %d\n", order[0], order[1], order[2]);
	pthread_mutex_lock(&lock);
	printf("locked twice: %d\n", pthread_mutex_lock(&lock) == 35 ? 35 : 0);
	run(stranger);
	pthread_mutex_unlock(&lock);
	printf("free in the end: %d\n", pthread_mutex_trylock(&lock));
	return 0;
}
