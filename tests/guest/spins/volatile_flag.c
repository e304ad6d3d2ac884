/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads that wait for a plain flag each, which the one before them sets: they run in
 * turn.
 *: native
 *: out 1 2 3 4
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static volatile int turn;

static void *take(void *number)
{
	int mine = (int)(intptr_t)number;

	while (turn != mine)
		;
	printf("%d%c", mine, mine == 4 ? '\n' : ' ');
	fflush(stdout);
	turn = mine + 1;
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 3; i >= 0; i--)
		pthread_create(&threads[i], NULL, take, (void *)(intptr_t)(i + 1));
	turn = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
