/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of compare and swap, which writes back what it read while it fails: it waits for the
 * value.
 *: native
 *: long
 *: out 2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int word;

static void *lead(void *unused)
{
	atomic_store(&word, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int expected;

	pthread_create(&thread, NULL, lead, NULL);
	do
		expected = 1;
	while (!atomic_compare_exchange_strong(&word, &expected, 2));
	printf("%d\n", atomic_load(&word));
	pthread_join(thread, NULL);
	return 0;
}
