/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that computes for long while another could run is never interrupted by wall time:
 * the other comes after it, always.
 *: pinned
 *: long
 *: out computed e09efe01, then waited
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_int started, done;

static void *mark(void *unused)
{
	atomic_store(&started, 1);
	printf("%swaited\n", atomic_load(&done) ? "then " : "first ");
	fflush(stdout);
	return unused;
}

int main(void)
{
	pthread_t thread;
	uint32_t x = 1;

	pthread_create(&thread, NULL, mark, NULL);
	for (uint32_t i = 0; i < 400000000; i++)
		x = (x ^ x << 13) * 2654435761u + i;
	printf("computed %x, ", x);
	fflush(stdout);
	atomic_store(&done, 1);
	pthread_join(thread, NULL);
	return 0;
}
