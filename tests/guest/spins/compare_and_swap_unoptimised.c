/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same without optimisation: calls, and stores to the stack.
 *: native
 *: out 2
 *: long
 */
#ifndef __clang__
#pragma GCC optimize("O0")
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

static atomic_int word;

static bool swap(atomic_int *which, int from, int to)
{
	int expected = from;

	return atomic_compare_exchange_strong(which, &expected, to);
}

static void *lead(void *unused)
{
	atomic_store(&word, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, lead, NULL);
	while (!swap(&word, 1, 2))
		;
	printf("%d\n", atomic_load(&word));
	pthread_join(thread, NULL);
	return 0;
}
