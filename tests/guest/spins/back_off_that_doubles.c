/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait with a pause that doubles up to a bound: once it is at the bound it recurs, with a
 * long period.
 *: native
 *: out 9
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int word;

static void *set(void *unused)
{
	atomic_store(&word, 9);
	return unused;
}

int main(void)
{
	pthread_t thread;
	unsigned pauses = 1;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&word)) {
		for (unsigned i = 0; i < pauses; i++)
			__builtin_ia32_pause();
		if (pauses < 256)
			pauses *= 2;
	}
	printf("%d\n", atomic_load(&word));
	pthread_join(thread, NULL);
	return 0;
}
