/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five thousand threads, one after the other.
 *: native
 *: long
 *: out 5000
 */
#include <pthread.h>
#include <stdio.h>

static int count;

static void *work(void *arg)
{
	count++;
	return arg;
}

int main(void)
{
	for (int i = 0; i < 5000; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%d\n", count);
	return 0;
}
