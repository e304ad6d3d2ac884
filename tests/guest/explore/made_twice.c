/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: a lazy initialization without a lock around the look and the making.
 *: long
 *: out made 1
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *volatile box;
static volatile int made;

static int *get(void)
{
	if (!box) {
		made = made + 1;
		box = malloc(sizeof(*box));
	}
	return box;
}

static void *work(void *arg)
{
	*get() = 1;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("made %d\n", made);
	return made != 1;
}
