/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main thread ends with pthread_exit while another goes on: that one still has its descriptors
 * and its parent's answers, can join the main thread, and its end is the process's.
 *: native
 *: out joined the main thread: 0
 *: out a child of it: killed by 15
 *: out a pipe still works: x
 *: exit 0
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_t main_thread;
static pid_t child;

static void *stays(void *unused)
{
	int ends[2], status = 0;
	char byte = 0;

	printf("joined the main thread: %d\n", pthread_join(main_thread, NULL));
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	printf("a child of it: killed by %d\n", WTERMSIG(status));
	if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
		return unused;
	printf("a pipe still works: %c\n", byte);
	exit(0);
}

int main(void)
{
	pthread_t thread;

	main_thread = pthread_self();
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	pthread_create(&thread, NULL, stays, NULL);
	usleep(10000); /* so that it is waited for already */
	pthread_exit(NULL);
}
