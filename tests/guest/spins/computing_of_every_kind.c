/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unoptimised code beside a thread that could run and one that waits with a time-out: a product of
 * matrices, a sort, random numbers, a counter in memory. Each for longer than a loop that waits and
 * counts may go on, and each is left alone.
 *: pinned
 *: long
 *: once
 *: out matrix 1179648
 *: out sort 0 3999
 *: out random 1632494849
 *: out counter 5500000000
 *: out then the others
 */
#ifndef __clang__
#pragma GCC optimize("O0")
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIZE = 64, LENGTH = 4000 };

static atomic_int done;
static int a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE], list[LENGTH];

static void *other(void *unused)
{
	if (!atomic_load(&done))
		puts("the other came before");
	return unused;
}

static void *sleeper(void *unused)
{
	nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
	return other(unused);
}

static void multiply(int times)
{
	for (int n = 0; n < times; n++)
		for (int i = 0; i < SIZE; i++)
			for (int j = 0; j < SIZE; j++) {
				c[i][j] = 0;
				for (int k = 0; k < SIZE; k++)
					c[i][j] += a[i][k] * b[k][j];
			}
}

static void sort(void)
{
	for (int i = 0; i < LENGTH; i++)
		list[i] = LENGTH - 1 - i;
	for (int i = 0; i < LENGTH; i++)
		for (int j = 0; j + 1 < LENGTH; j++)
			if (list[j] > list[j + 1]) {
				int kept = list[j];

				list[j] = list[j + 1];
				list[j + 1] = kept;
			}
}

int main(void)
{
	pthread_t threads[2];
	unsigned random = 1;
	long count;
	long sum = 0;

	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			a[i][j] = 1;
			b[i][j] = j % 2 + 4;
		}
	pthread_create(&threads[0], NULL, other, NULL);
	pthread_create(&threads[1], NULL, sleeper, NULL);
	multiply(1000);
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			sum += c[i][j];
	printf("matrix %ld\n", sum);
	sort();
	printf("sort %d %d\n", list[0], list[LENGTH - 1]);
	for (long i = 0; i < 300000000; i++)
		random = random * 1103515245 + 12345;
	printf("random %u\n", random);
	for (count = 0; count < 5500000000; count++)
		;
	printf("counter %ld\n", count);
	fflush(stdout);
	atomic_store(&done, 1);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	puts("then the others");
	return 0;
}
