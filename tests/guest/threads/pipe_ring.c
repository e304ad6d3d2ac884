/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte goes round a ring of 200 threads and their pipes: a switch must not cost more the more
 * threads wait, or this takes minutes.
 *: native
 *: out 200 threads, 20 rounds
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 200, ROUNDS = 20 };

static int pipes[THREADS][2];

static void *hop(void *arg)
{
	int(*mine)[2] = arg;
	int(*next)[2] = mine == &pipes[THREADS - 1] ? &pipes[0] : mine + 1;

	for (int i = 0; i < ROUNDS; i++) {
		char byte;

		if (read((*mine)[0], &byte, 1) != 1 || write((*next)[1], &byte, 1) != 1)
			exit(1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pipe(pipes[i]) < 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hop, &pipes[i]);
	if (write(pipes[0][1], "x", 1) != 1)
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d threads, %d rounds\n", THREADS, ROUNDS);
	return 0;
}
