/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: the thread relies on main having set the pointer, which it does after it made
 * the thread.
 *: long
 *: out 42
 */
#include <pthread.h>
#include <stdio.h>

static int *volatile box;
static int seen;

static void *work(void *arg)
{
	seen = box ? *box : -1;
	return arg;
}

int main(void)
{
	static int value = 42;
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	box = &value;
	pthread_join(thread, NULL);
	printf("%d\n", seen);
	return seen != 42;
}
