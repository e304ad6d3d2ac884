/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread stops its process by tgkill and another process continues it by the id of a thread that
 * is not the main one.
 *: native
 *: long
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ids[2];

static void *stops(void *unused)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(ids[1], &tid, sizeof(tid)) < 0)
		_exit(1);
	syscall(SYS_tgkill, getpid(), tid, SIGSTOP);
	printf("the thread goes on\n");
	return unused;
}

int main(void)
{
	int status;
	pid_t tid, pid;

	if (pipe(ids) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, stops, NULL);
		pthread_join(thread, NULL);
		printf("joined\n");
		fflush(stdout);
		_exit(0);
	}
	if (read(ids[0], &tid, sizeof(tid)) != sizeof(tid))
		return 1;
	waitpid(pid, &status, WUNTRACED);
	printf("stopped by %d\n", WIFSTOPPED(status) ? WSTOPSIG(status) : 0);
	fflush(stdout);
	printf("tgkill %ld\n", syscall(SYS_tgkill, pid, tid, SIGCONT));
	fflush(stdout);
	waitpid(pid, &status, WCONTINUED);
	printf("continued %d\n", WIFCONTINUED(status));
	fflush(stdout);
	waitpid(pid, &status, 0);
	printf("exited %d\n", WIFEXITED(status));
	return 0;
}
