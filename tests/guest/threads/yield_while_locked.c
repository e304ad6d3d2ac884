/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread gives way only while it holds a lock, and takes it again at once: whoever waits for the
 * lock still gets it some day.
 *: native
 *: out the other got the lock
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int got;

static void *other(void *unused)
{
	pthread_mutex_lock(&lock);
	got = 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, other, NULL);
	while (!got) {
		sched_yield();
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	puts("the other got the lock");
	return 0;
}
