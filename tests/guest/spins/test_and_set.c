/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of test and set, whose holder sleeps: the waiter writes the same value again and
 * again.
 *: native
 *: out held, then 7
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_int held;
static int sum;

static void *hold(void *unused)
{
	const struct timespec while_ms = {0, 20000000};

	while (atomic_flag_test_and_set(&lock))
		;
	atomic_store(&held, 1);
	nanosleep(&while_ms, NULL);
	sum = 3;
	printf("held, ");
	atomic_flag_clear(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold, NULL);
	while (!atomic_load(&held))
		;
	while (atomic_flag_test_and_set(&lock))
		;
	printf("then %d\n", sum + 4);
	pthread_join(thread, NULL);
	return 0;
}
