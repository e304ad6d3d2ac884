/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is not the main one executes a program: it is the process then, the others are
 * gone, and locks that they held are found to be of dead owners.
 *: native
 *: long
 *: out the same process: yes, tasks 1
 *: out lock of another thread: 130, of the main thread: 130, while it runs: yes
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t *locks;

static int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	while (d && readdir(d))
		n++;
	return n - 2;
}

static void *holds(void *unused)
{
	pthread_mutex_lock(&locks[0]);
	pause();
	return unused;
}

static void *goes(void *program)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	usleep(20000);
	execl(program, program, pid, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_t threads[2];
	pid_t child;
	int a, b, runs;

	if (argc > 1) {
		printf("the same process: %s, tasks %d\n", atoi(argv[1]) == getpid() ? "yes" : "no",
			tasks());
		fflush(stdout);
		usleep(100000);
		return 0;
	}
	locks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&locks[i], &attr);
	child = fork();
	if (child == 0) {
		pthread_create(&threads[0], NULL, holds, NULL);
		pthread_create(&threads[1], NULL, goes, argv[0]);
		pthread_mutex_lock(&locks[1]);
		pause();
	}
	usleep(10000);
	a = pthread_mutex_lock(&locks[0]);
	b = pthread_mutex_lock(&locks[1]);
	runs = waitpid(child, NULL, WNOHANG) == 0;
	waitpid(child, NULL, 0);
	printf("lock of another thread: %d, of the main thread: %d, while it runs: %s\n", a, b,
		runs ? "yes" : "no");
	return 0;
}
