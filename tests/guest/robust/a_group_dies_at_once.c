/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 300 processes of a group, two threads each, are killed by one signal and reaped.
 *: native
 *: option --pids
 *: option 2000
 *: long
 *: out 300 killed
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 300 };

static void *work(void *arg)
{
	sleep(1000);
	return arg;
}

int main(void)
{
	int killed = 0, status;
	pid_t group = 0;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			pthread_t thread;

			setpgid(0, group);
			pthread_create(&thread, NULL, work, NULL);
			pause();
			_exit(0);
		}
		setpgid(child, group);
		group = group ? group : child;
	}
	sleep(1);
	kill(-group, SIGKILL);
	while (wait(&status) > 0)
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	printf("%d killed\n", killed);
	return 0;
}
