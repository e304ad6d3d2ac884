/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait for another thread by the time-stamp counter: its reads give way like reads of the
 * clock.
 *: native
 *: out 1
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag;

static void *set(void *unused)
{
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag))
		(void)__builtin_ia32_rdtsc();
	printf("%d\n", atomic_load(&flag));
	pthread_join(thread, NULL);
	return 0;
}
