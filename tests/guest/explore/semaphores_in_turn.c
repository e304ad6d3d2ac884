/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: two threads hand each other the turn.
 *: option --sched-seed
 *: option 21
 *: long
 *: out abababab
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t turn[2];

static void *work(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < 4; i++) {
		sem_wait(&turn[me]);
		putchar('a' + me);
		sem_post(&turn[1 - me]);
	}
	return NULL;
}

int main(void)
{
	int ids[2] = {0, 1};
	pthread_t threads[2];

	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &ids[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	putchar('\n');
	return 0;
}
