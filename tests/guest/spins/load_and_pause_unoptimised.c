/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same without optimisation, where each round writes the same values to the stack again.
 *: native
 *: out 42
 *: long
 */
#ifndef __clang__
#pragma GCC optimize("O0")
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag;
static int value;

static int is_set(atomic_int *which)
{
	int seen = atomic_load(which);

	return seen;
}

static void *set(void *unused)
{
	value = 42;
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!is_set(&flag))
		__builtin_ia32_pause();
	printf("%d\n", value);
	pthread_join(thread, NULL);
	return 0;
}
