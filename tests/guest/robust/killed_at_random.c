/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that wait in every way are killed at drawn moments; each is reaped, and the rest of the
 * waiting goes on.
 *: row entropy
 *: varies
 *: rootless
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

enum { CHILDREN = 60 };

static unsigned draw(unsigned below)
{
	unsigned v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		exit(1);
	return v % below;
}

static void *sleep_long(void *arg)
{
	sleep(1000);
	return arg;
}

static void wait_somehow(unsigned how, const int ends[2])
{
	pthread_t thread;
	char byte;
	int fd;

	switch (how) {
	case 0:
		sleep(1000);
		break;
	case 1:
		if (read(ends[0], &byte, 1) < 0)
			_exit(3);
		break;
	case 2:
		pthread_create(&thread, NULL, sleep_long, NULL);
		pthread_join(thread, NULL);
		break;
	case 3:
		fd = open("lock", O_RDWR | O_CREAT, 0644);
		flock(fd, LOCK_EX);
		sleep(1000);
		break;
	case 4:
		if (fork() == 0)
			sleep(2);
		wait(NULL);
		break;
	default:
		for (;;)
			usleep(1000 * (1 + how));
	}
	_exit(4);
}

int main(void)
{
	pid_t children[CHILDREN];
	int ends[2], killed = 0, other = 0;
	unsigned long sum = 0;

	if (pipe(ends) < 0)
		return 1;
	for (int i = 0; i < CHILDREN; i++) {
		unsigned how = draw(7);

		children[i] = fork();
		if (children[i] == 0)
			wait_somehow(how, ends);
		usleep(draw(3000));
	}
	for (int left = CHILDREN; left > 0; left--) {
		unsigned which = draw((unsigned)left);
		int status;

		usleep(draw(20000));
		kill(children[which], SIGKILL);
		if (waitpid(children[which], &status, 0) != children[which])
			return 2;
		if (WIFSIGNALED(status))
			killed++;
		else
			other++;
		sum = sum * 31 + which;
		children[which] = children[left - 1];
	}
	printf("%d killed, %d ended before, order %lu\n", killed, other, sum);
	return 0;
}
