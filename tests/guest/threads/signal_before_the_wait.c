/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A condition is signalled before anybody waits for it, and then never again: a deadlock, while
 * a wait with a time-out beside it goes on.
 *: exit 123
 *: out the one with a time-out is through: 110
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *limited(void *unused)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 3600;
	pthread_mutex_lock(&lock);
	printf("the one with a time-out is through: %d\n",
		pthread_cond_timedwait(&cond, &lock, &limit));
	fflush(stdout);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_cond_signal(&cond);
	pthread_create(&thread, NULL, limited, NULL);
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&cond, &lock);
}
