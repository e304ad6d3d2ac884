/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As busy_without_waiting, with calls that the kernel does: the turn is given before such a call,
 * not between its test and its end.
 *: native
 *: long
 *: out told to stop
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int stop;

static void *teller(void *unused)
{
	stop = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, teller, NULL);
	while (!stop) {
		int fd = open("/", O_RDONLY | O_DIRECTORY);

		if (fd < 0)
			return 1;
		close(fd);
	}
	pthread_join(thread, NULL);
	puts("told to stop");
	return 0;
}
