/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads take two locks in two orders: that never ends natively, and is a deadlock here.
 *: exit 123
 *: out both have their first lock
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;

static void *take(void *arg)
{
	int first = *(int *)arg;

	pthread_mutex_lock(&locks[first]);
	if (pthread_barrier_wait(&both) == PTHREAD_BARRIER_SERIAL_THREAD) {
		puts("both have their first lock");
		fflush(stdout);
	}
	pthread_mutex_lock(&locks[!first]);
	return NULL;
}

int main(void)
{
	static int names[2] = {0, 1};
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, take, &names[1]);
	take(&names[0]);
	return 0;
}
