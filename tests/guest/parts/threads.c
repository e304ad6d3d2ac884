/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that race for a lock, meet at a barrier, hand work over a condition, and sleep. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static char order[THREADS * ROUNDS + 1];
static int written, turn;

static void *work(void *argument)
{
	const int me = *(const int *)argument;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		order[written++] = (char)('a' + me);
		if (i % 7 == me)
			sched_yield();
		pthread_mutex_unlock(&lock);
		if (i % 11 == me)
			usleep(100);
	}
	pthread_mutex_lock(&lock);
	while (turn != me)
		pthread_cond_wait(&changed, &lock);
	turn++;
	printf("thread %d in its turn\n", me);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	struct timespec until;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts(order);
	/* Nobody signals: the wait ends by its time. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	pthread_mutex_lock(&lock);
	printf("timed wait: %d\n", pthread_cond_timedwait(&changed, &lock, &until));
	pthread_mutex_unlock(&lock);
	clock_gettime(CLOCK_REALTIME, &until);
	printf("ends at %ld.%09ld\n", until.tv_sec, until.tv_nsec);
	return 0;
}
