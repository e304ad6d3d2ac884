/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads wait for any child, and there is one: the first gets it, the other ECHILD.
 *: native
 *: out one child, one error 10
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int children, error;

static void *waiter(void *unused)
{
	if (waitpid(-1, NULL, 0) > 0)
		__atomic_add_fetch(&children, 1, __ATOMIC_SEQ_CST);
	else
		error = errno;
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	pid_t child = fork();

	if (child == 0) {
		usleep(20000);
		_exit(0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, waiter, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%s child, one error %d\n", children == 1 ? "one" : "no", error);
	return 0;
}
