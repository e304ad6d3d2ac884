/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads wait for each other without a call: nothing can end that, and the run says so.
 *: exit 123
 */
#include <pthread.h>

static volatile int one, other;

static void *wait_for_one(void *unused)
{
	while (!one)
		;
	other = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_one, NULL);
	while (!other)
		;
	one = 1;
	return 0;
}
