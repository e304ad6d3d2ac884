/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: main takes the box away without waiting for the thread, which crashes when it
 * is late.
 *: long
 *: out done
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

struct box {
	int value;
};

static struct box *volatile box;

static void *work(void *arg)
{
	sched_yield();
	box->value++;
	return arg;
}

int main(void)
{
	static struct box one;
	pthread_t thread;

	box = &one;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	for (int i = 0; i < 4; i++)
		sched_yield();
	box = NULL;
	pthread_join(thread, NULL);
	puts("done");
	return 0;
}
