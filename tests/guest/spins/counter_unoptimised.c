/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long loop of unoptimised code, its counter in memory, is no wait while it ends in its
 * time.
 *: pinned
 *: long
 *: out 600000000, then the other
 */
#ifndef __clang__
#pragma GCC optimize("O0")
#endif
#include <pthread.h>
#include <stdio.h>

static volatile int done;

static void *other(void *unused)
{
	printf("%sthe other\n", done ? "then " : "first ");
	fflush(stdout);
	return unused;
}

int main(void)
{
	pthread_t thread;
	long sum = 0;

	pthread_create(&thread, NULL, other, NULL);
	for (long i = 0; i < 600000000; i++)
		sum += 1;
	printf("%ld, ", sum);
	fflush(stdout);
	done = 1;
	pthread_join(thread, NULL);
	return 0;
}
