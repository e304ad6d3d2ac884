/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop whose only progress is in a vector register: its general registers recur, and it
 * computes.
 *: pinned
 *: out 3e+08, then the other
 *: long
 */
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
	const double one = 1, last = 3e8;
	pthread_t thread;
	double x = 0;

	pthread_create(&thread, NULL, other, NULL);
	__asm__ volatile("1: addsd %1, %0\n\tucomisd %0, %2\n\tja 1b"
			 : "+x"(x)
			 : "x"(one), "x"(last)
			 : "cc");
	printf("%g, ", x);
	fflush(stdout);
	done = 1;
	pthread_join(thread, NULL);
	return 0;
}
