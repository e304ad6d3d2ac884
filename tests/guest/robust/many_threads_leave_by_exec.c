/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of 200, which wait in different calls, becomes another program: the others go with it.
 *: native
 *: out became
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 200 };

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
	char byte;

	switch (*(int *)arg % 4) {
	case 0:
		pthread_mutex_lock(&lock);
		break;
	case 1:
		return read(ends[0], &byte, 1) < 0 ? arg : NULL;
	case 2:
		poll(NULL, 0, 1000000);
		break;
	default:
		sleep(1000);
	}
	return NULL;
}

static void *become(void *arg)
{
	sleep(1);
	execl("/proc/self/exe", "again", "again", (char *)NULL);
	return arg;
}

int main(int argc, char **argv)
{
	static int ids[THREADS];
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "again") == 0) {
		puts("became");
		return 0;
	}
	pthread_mutex_lock(&lock);
	if (pipe(ends) < 0)
		return 1;
	for (int i = 0; i < THREADS; i++) {
		ids[i] = i;
		if (pthread_create(&thread, NULL, work, &ids[i]))
			return 1;
	}
	if (pthread_create(&thread, NULL, become, NULL))
		return 1;
	pause();
	return 1;
}
