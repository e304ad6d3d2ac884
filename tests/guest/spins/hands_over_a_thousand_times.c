/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads hand a turn to each other without a call: each finds out soon that it waits again,
 * where the watchdog alone would need minutes.
 *: native
 *: out 1000 times
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TIMES = 1000 };

static atomic_int turn;

static void play(int own)
{
	for (int i = 0; i < TIMES / 2; i++) {
		while (atomic_load(&turn) % 2 != own)
			;
		atomic_fetch_add(&turn, 1);
	}
}

static void *other(void *unused)
{
	play(1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	play(0);
	pthread_join(thread, NULL);
	printf("%d times\n", atomic_load(&turn));
	return 0;
}
