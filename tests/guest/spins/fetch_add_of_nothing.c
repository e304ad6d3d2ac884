/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that adds nothing to a word to read it, and vector registers that hold still: pure
 * as well.
 *: native
 *: out 5 1.5
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int word;
static volatile double half = 0.5;

static void *set(void *unused)
{
	atomic_store(&word, 5);
	return unused;
}

int main(void)
{
	pthread_t thread;
	double x = half * 3;

	pthread_create(&thread, NULL, set, NULL);
	while (atomic_fetch_add(&word, 0) == 0)
		x = half * 3;
	printf("%d %.1f\n", atomic_load(&word), x);
	pthread_join(thread, NULL);
	return 0;
}
