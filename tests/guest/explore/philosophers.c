/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong on purpose: three of them, each with the left fork first, can starve at a full table.
 *: long
 *: out 3 3 3
 */
#include <pthread.h>
#include <stdio.h>

enum { SEATS = 3 };

static pthread_mutex_t forks[SEATS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *work(void *arg)
{
	int seat = *(int *)arg, left = seat, right = (seat + 1) % SEATS;

	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&forks[left]);
		pthread_mutex_lock(&forks[right]);
		meals[seat]++;
		pthread_mutex_unlock(&forks[right]);
		pthread_mutex_unlock(&forks[left]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[SEATS];
	int seats[SEATS];

	for (int i = 0; i < SEATS; i++) {
		seats[i] = i;
		if (pthread_create(&threads[i], NULL, work, &seats[i]))
			return 1;
	}
	for (int i = 0; i < SEATS; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %d\n", meals[0], meals[1], meals[2]);
	return 0;
}
