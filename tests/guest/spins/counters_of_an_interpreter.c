/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that moves six words in each round, as an interpreter with a profile does that calls a
 * method in its loop: told as a wait that counts, and no hang.
 *: unenforced impure_spin
 *: exit 121
 *: option --timeout
 *: option 240s
 *: long
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int flag;
static volatile unsigned long counters[6];

static void *set(void *unused)
{
	atomic_store(&flag, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, set, NULL);
	while (!atomic_load(&flag)) {
		counters[0]++;
		counters[1]++;
		counters[2]++;
		counters[3]++;
		counters[4]++;
		counters[5]++;
	}
	puts("over");
	pthread_join(thread, NULL);
	return 0;
}
