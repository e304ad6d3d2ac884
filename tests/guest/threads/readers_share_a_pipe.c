/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three threads wait in a read of one pipe: each byte wakes one of them, and the others go on
 * waiting.
 *: native
 *: out 3 bytes, one each
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { READERS = 3 };

static int ends[2], got[READERS];

static void *reader(void *arg)
{
	char byte;

	*(int *)arg = (int)read(ends[0], &byte, 1);
	return NULL;
}

int main(void)
{
	pthread_t threads[READERS];

	if (pipe(ends) < 0)
		return 1;
	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, reader, &got[i]);
	usleep(10000);
	for (int i = 0; i < READERS; i++) {
		if (write(ends[1], "x", 1) != 1)
			return 1;
		usleep(10000);
	}
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d bytes, one each\n", got[0] + got[1] + got[2]);
	return 0;
}
