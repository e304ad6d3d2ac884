/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own seccomp filter that kills: the process, or the thread alone.
 *: native
 *: long
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "own_filter.h"

static void *offend(void *unused)
{
	syscall(SYS_getsid, 0);
	printf("not reached\n");
	return unused;
}

static void *waits(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void try(const char *what, uint32_t answer, int threads)
{
	pthread_t one, two;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		own_filter(SYS_getsid, answer, 0);
		if (threads) {
			pthread_create(&two, NULL, waits, NULL);
			pthread_create(&one, NULL, offend, NULL);
			/* Its end is no return, but the kernel clears its word all the same. */
			pthread_join(one, NULL);
			printf("%s: the others live\n", what);
			fflush(stdout);
		} else {
			offend(NULL);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("%s: %s %d\n", what, WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void *outlives(void *unused)
{
	usleep(50000);
	printf("the main thread is gone\n");
	fflush(stdout);
	_exit(6);
	return unused;
}

static void main_alone(void)
{
	pthread_t thread;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, outlives, NULL);
		own_filter(SYS_getsid, SECCOMP_RET_KILL_THREAD, 0);
		offend(NULL);
	}
	waitpid(pid, &status, 0);
	printf("exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void)
{
	try("process", SECCOMP_RET_KILL_PROCESS, 0);
	try("thread", SECCOMP_RET_KILL_THREAD, 0);
	try("process of threads", SECCOMP_RET_KILL_PROCESS, 1);
	try("thread of several", SECCOMP_RET_KILL_THREAD, 1);
	main_alone();
	return 0;
}
