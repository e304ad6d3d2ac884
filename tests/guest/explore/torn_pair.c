/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: a transfer between two accounts is seen half done.
 *: long
 *: out 100
 */
#include <pthread.h>
#include <stdio.h>

static volatile int a = 60, b = 40;
static int sum;

static void *transfer(void *arg)
{
	for (int i = 0; i < 20; i++) {
		a = a - 1;
		b = b + 1;
	}
	return arg;
}

static void *audit(void *arg)
{
	sum = a + b;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, transfer, NULL) ||
		pthread_create(&threads[1], NULL, audit, NULL))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return sum != 100;
}
